! Writes and reads through use mpi: views, counts, strings, handlers.
module checks
  use mpi
  implicit none
  integer :: passed = 0, failed = 0, calls = 0, handle = -1
contains
  subroutine verify(holds, what)
    logical, intent(in) :: holds
    character(*), intent(in) :: what
    if (holds) then
      passed = passed + 1
    else
      failed = failed + 1
      print *, 'does not hold: ', what
    end if
  end subroutine

  subroutine on_error(file, code)
    integer :: file
    integer :: code
    calls = calls + 1
    handle = file
    if (code == MPI_SUCCESS) failed = failed + 1
  end subroutine
end module

program main
  use checks
  implicit none
  integer, parameter :: n = 32
  integer :: file, again
  integer :: handler
  integer :: etype, filetype, cards
  integer :: status(MPI_STATUS_SIZE)
  integer :: ierror, rank, ranks, count, class, length, i
  integer :: values(n), back(n), sums(2)
  integer(MPI_OFFSET_KIND) :: offset, size
  integer(MPI_ADDRESS_KIND) :: low, extent
  character(500) :: path
  character(MPI_MAX_ERROR_STRING) :: text
  character(MPI_MAX_DATAREP_STRING) :: datarep
  logical :: flag

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  call get_command_argument(1, path)
  values = [(1000 * rank + i, i = 1, n)]

  ! The path is padded with blanks, which are no part of the name.
  call MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE + MPI_MODE_RDWR, MPI_INFO_NULL, file, ierror)
  call verify(ierror == MPI_SUCCESS, 'open')
  inquire(file=path, exist=flag)
  call verify(flag, 'the file has the trimmed name')

  low = 0
  extent = 4 * ranks
  call MPI_Type_create_resized(MPI_INTEGER, low, extent, cards, ierror)
  call MPI_Type_commit(cards, ierror)
  offset = 4 * rank
  call MPI_File_set_view(file, offset, MPI_INTEGER, cards, 'native', MPI_INFO_NULL, ierror)
  call MPI_File_get_view(file, size, etype, filetype, datarep, ierror)
  call verify(size == offset .and. etype == MPI_INTEGER, 'get_view')
  call verify(datarep == 'native', 'datarep')
  call MPI_Type_free(filetype, ierror)
  call MPI_Type_free(cards, ierror)
  call MPI_File_write_all(file, values, n, MPI_INTEGER, status, ierror)
  call verify(ierror == MPI_SUCCESS, 'write_all')
  call MPI_Get_count(status, MPI_INTEGER, count, ierror)
  call verify(count == n, 'count of write_all')
  offset = 0
  call MPI_File_read_at(file, offset, back, n, MPI_INTEGER, status, ierror)
  call MPI_Get_count(status, MPI_INTEGER, count, ierror)
  call verify(count == n .and. all(back == values), 'what was read')
  call MPI_File_read_at_all(file, offset, back, n, MPI_INTEGER, MPI_STATUS_IGNORE, ierror)
  call verify(ierror == MPI_SUCCESS, 'MPI_STATUS_IGNORE')
  call MPI_Barrier(MPI_COMM_WORLD, ierror)
  call MPI_File_get_size(file, size, ierror)
  call verify(size == 4 * n * ranks, 'get_size')
  call MPI_File_set_atomicity(file, .true., ierror)
  call MPI_File_get_atomicity(file, flag, ierror)
  call verify(flag, 'atomicity')

  ! The first of every rank, past the view: from a second opening.
  call MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_RDONLY, MPI_INFO_NULL, again, ierror)
  call verify(again > 0 .and. again /= file, 'two handles')
  call MPI_File_read(again, back, min(ranks, n), MPI_INTEGER, status, ierror)
  do i = 1, min(ranks, n)
    call verify(back(i) == 1000 * (i - 1) + 1, 'bytes in the file')
  end do
  call MPI_File_close(again, ierror)
  call verify(again == MPI_FILE_NULL, 'close')

  call MPI_File_create_errhandler(on_error, handler, ierror)
  call MPI_File_set_errhandler(file, handler, ierror)
  call verify(ierror == MPI_SUCCESS, 'set_errhandler')
  call MPI_Errhandler_free(handler, ierror)
  offset = -1
  call MPI_File_read_at(file, offset, back, n, MPI_INTEGER, status, ierror)
  call verify(calls == 1 .and. handle == file, 'handler')
  call MPI_Error_class(ierror, class, i)
  call verify(class == MPI_ERR_ARG, 'class')
  call MPI_Error_string(ierror, text, length, i)
  call verify(index(text, 'offset is negative') > 0, 'message')
  call MPI_File_call_errhandler(file, MPI_ERR_IO, ierror)
  call verify(calls == 2, 'call_errhandler')
  call MPI_File_close(file, ierror)
  call MPI_Barrier(MPI_COMM_WORLD, ierror)
  if (rank == 0) call MPI_File_delete(path, MPI_INFO_NULL, ierror)

  call MPI_Allreduce([passed, failed], sums, 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
  if (rank == 0) write(*, '(I0, A, I0, A)') sums(1), ' checks passed, ', sums(2), ' failed'
  call MPI_Finalize(ierror)
  if (sums(2) /= 0) stop 1
end program
