C     Writes and reads through mpif.h: views, counts, strings, handlers.
      subroutine on_error(file, code)
      integer file, code, calls, handle
      common /seen/ calls, handle
      calls = calls + 1
      handle = file
      end

      subroutine verify(holds, what)
      logical holds
      character*(*) what
      integer passed, failed
      common /checks/ passed, failed
      if (holds) then
        passed = passed + 1
      else
        failed = failed + 1
        print *, 'does not hold: ', what
      end if
      end

      program main
      include 'mpif.h'
      external on_error
      integer passed, failed, calls, handle
      common /checks/ passed, failed
      common /seen/ calls, handle
      integer n
      parameter (n = 32)
      integer file, again, handler, status(MPI_STATUS_SIZE), ierror
      integer rank, ranks, count, class, length, i, cards
      integer etype, filetype, own(2), all(2)
      integer values(n), back(n)
      integer(kind=MPI_OFFSET_KIND) offset, size
      integer(kind=MPI_ADDRESS_KIND) low, extent
      character*500 path
      character*(MPI_MAX_ERROR_STRING) text
      character*(MPI_MAX_DATAREP_STRING) datarep
      logical flag

      passed = 0
      failed = 0
      calls = 0
      handle = -1
      call MPI_INIT(ierror)
      call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierror)
      call MPI_COMM_SIZE(MPI_COMM_WORLD, ranks, ierror)
      call getarg(1, path)
      do 10 i = 1, n
        values(i) = 1000 * rank + i
 10   continue

C     The path is padded with blanks, which are no part of the name.
      call MPI_FILE_OPEN(MPI_COMM_WORLD, path,
     &     MPI_MODE_CREATE + MPI_MODE_RDWR, MPI_INFO_NULL, file, ierror)
      call verify(ierror .eq. MPI_SUCCESS, 'open')
      inquire(file=path, exist=flag)
      call verify(flag, 'the file has the trimmed name')

      low = 0
      extent = 4 * ranks
      call MPI_TYPE_CREATE_RESIZED(MPI_INTEGER, low, extent, cards,
     &     ierror)
      call MPI_TYPE_COMMIT(cards, ierror)
      offset = 4 * rank
      call MPI_FILE_SET_VIEW(file, offset, MPI_INTEGER, cards,
     &     'native', MPI_INFO_NULL, ierror)
      call verify(ierror .eq. MPI_SUCCESS, 'set_view')
      call MPI_FILE_GET_VIEW(file, size, etype, filetype, datarep,
     &     ierror)
      call verify(size .eq. offset .and. etype .eq. MPI_INTEGER,
     &     'get_view')
      call verify(datarep .eq. 'native', 'datarep')
      call MPI_TYPE_FREE(filetype, ierror)
      call MPI_TYPE_FREE(cards, ierror)
      call MPI_FILE_WRITE_ALL(file, values, n, MPI_INTEGER, status,
     &     ierror)
      call verify(ierror .eq. MPI_SUCCESS, 'write_all')
      call MPI_GET_COUNT(status, MPI_INTEGER, count, ierror)
      call verify(count .eq. n, 'count of write_all')
      offset = 0
      call MPI_FILE_READ_AT(file, offset, back, n, MPI_INTEGER, status,
     &     ierror)
      call MPI_GET_COUNT(status, MPI_INTEGER, count, ierror)
      call verify(count .eq. n, 'count of read_at')
      do 20 i = 1, n
        call verify(back(i) .eq. values(i), 'what was read')
 20   continue
      call MPI_FILE_READ_AT(file, offset, back, n, MPI_INTEGER,
     &     MPI_STATUS_IGNORE, ierror)
      call verify(ierror .eq. MPI_SUCCESS, 'MPI_STATUS_IGNORE')
      call MPI_BARRIER(MPI_COMM_WORLD, ierror)
      call MPI_FILE_GET_SIZE(file, size, ierror)
      call verify(size .eq. 4 * n * ranks, 'get_size')
      call MPI_FILE_SET_ATOMICITY(file, .true., ierror)
      call MPI_FILE_GET_ATOMICITY(file, flag, ierror)
      call verify(flag, 'atomicity')

C     Offset 0 of every rank, past this MPI: from a second opening.
      call MPI_FILE_OPEN(MPI_COMM_SELF, path, MPI_MODE_RDONLY,
     &     MPI_INFO_NULL, again, ierror)
      call verify(again .gt. 0 .and. again .ne. file, 'two handles')
      call MPI_FILE_READ(again, back, min(ranks, n), MPI_INTEGER,
     &     status, ierror)
      do 30 i = 1, min(ranks, n)
        call verify(back(i) .eq. 1000 * (i - 1) + 1, 'bytes in file')
 30   continue
      call MPI_FILE_CLOSE(again, ierror)
      call verify(again .eq. MPI_FILE_NULL, 'close')

      call MPI_FILE_CREATE_ERRHANDLER(on_error, handler, ierror)
      call verify(ierror .eq. MPI_SUCCESS, 'create_errhandler')
      call MPI_FILE_SET_ERRHANDLER(file, handler, ierror)
      call MPI_ERRHANDLER_FREE(handler, ierror)
      call verify(handler .eq. MPI_ERRHANDLER_NULL, 'errhandler_free')
      offset = -1
      call MPI_FILE_READ_AT(file, offset, back, n, MPI_INTEGER, status,
     &     ierror)
      call verify(calls .eq. 1 .and. handle .eq. file, 'handler')
      call MPI_ERROR_CLASS(ierror, class, i)
      call verify(class .eq. MPI_ERR_ARG, 'class')
      call MPI_ERROR_STRING(ierror, text, length, i)
      call verify(index(text, 'offset is negative') .gt. 0, 'message')
      call MPI_FILE_CALL_ERRHANDLER(file, MPI_ERR_IO, ierror)
      call verify(calls .eq. 2, 'call_errhandler')
      call MPI_FILE_CLOSE(file, ierror)
      call MPI_BARRIER(MPI_COMM_WORLD, ierror)
      if (rank .eq. 0) call MPI_FILE_DELETE(path, MPI_INFO_NULL, ierror)

      own(1) = passed
      own(2) = failed
      call MPI_ALLREDUCE(own, all, 2, MPI_INTEGER, MPI_SUM,
     &     MPI_COMM_WORLD, ierror)
      if (rank .eq. 0) then
        write(*, '(I0, A, I0, A)') all(1), ' checks passed, ', all(2),
     &       ' failed'
      end if
      call MPI_FINALIZE(ierror)
      if (all(2) .ne. 0) stop 1
      end
