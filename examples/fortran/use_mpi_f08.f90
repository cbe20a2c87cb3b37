! The matrix of examples/c/subarray.c, stored by Fortran: ranks own blocks of rows, so that every rank's part of every
! column is a separate piece of the file. Written collectively, the neighbour's block read back and checked.
! Through the module mpi_f08: handles are types of their own.
program subarray
  use mpi_f08
  implicit none
  integer, parameter :: rows = 40, columns = 96
  integer :: rank, ranks, neighbour, wrong, written, row, column, ierror
  type(MPI_File) :: file
  type(MPI_Datatype) :: filetype
  type(MPI_Status) :: status
  integer(kind=MPI_OFFSET_KIND), parameter :: start = 0
  integer :: block(rows, columns)
  character(len=1024) :: path

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  call get_command_argument(1, path)
  neighbour = mod(rank + 1, ranks)
  do column = 1, columns
    do row = 1, rows
      block(row, column) = number_at(rows * rank + row, column)
    end do
  end do

  call MPI_File_open(MPI_COMM_WORLD, trim(path), MPI_MODE_CREATE + MPI_MODE_RDWR, MPI_INFO_NULL, file, ierror)
  call check(ierror, 'open')
  call block_of(rank, filetype)
  call MPI_File_set_view(file, start, MPI_INTEGER, filetype, 'native', MPI_INFO_NULL, ierror)
  call check(ierror, 'set_view')
  call MPI_File_write_all(file, block, rows * columns, MPI_INTEGER, status, ierror)
  call check(ierror, 'write_all')
  call MPI_Get_count(status, MPI_INTEGER, written, ierror)
  call MPI_Type_free(filetype, ierror)
  call MPI_File_sync(file, ierror)
  call MPI_Barrier(MPI_COMM_WORLD, ierror)

  call block_of(neighbour, filetype)
  call MPI_File_set_view(file, start, MPI_INTEGER, filetype, 'native', MPI_INFO_NULL, ierror)
  call MPI_File_read_all(file, block, rows * columns, MPI_INTEGER, status, ierror)
  call check(ierror, 'read_all')
  call MPI_Type_free(filetype, ierror)
  call MPI_File_close(file, ierror)
  call check(ierror, 'close')

  wrong = merge(0, 1, written == rows * columns)
  do column = 1, columns
    do row = 1, rows
      if (block(row, column) /= number_at(rows * neighbour + row, column)) wrong = wrong + 1
    end do
  end do
  call MPI_Allreduce(MPI_IN_PLACE, wrong, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
  if (rank == 0) print '(a, i0, a, i0, a)', 'use_mpi_f08: ', ranks, ' ranks, ', wrong, ' wrong'
  call MPI_Finalize(ierror)
  if (wrong /= 0) error stop 1

contains

  integer function number_at(row, column)
    integer, intent(in) :: row, column
    number_at = 100000 * column + row
  end function

  subroutine block_of(owner, filetype)
    integer, intent(in) :: owner
    type(MPI_Datatype), intent(out) :: filetype
    call MPI_Type_create_subarray(2, [rows * ranks, columns], [rows, columns], [rows * owner, 0], &
                                  MPI_ORDER_FORTRAN, MPI_INTEGER, filetype, ierror)
    call MPI_Type_commit(filetype, ierror)
  end subroutine

  subroutine check(code, what)
    integer, intent(in) :: code
    character(len=*), intent(in) :: what
    character(len=MPI_MAX_ERROR_STRING) :: text
    integer :: length
    if (code == MPI_SUCCESS) return
    call MPI_Error_string(code, text, length, ierror)
    print '(4a)', 'use_mpi_f08: ', what, ': ', text(1:length)
    call MPI_Abort(MPI_COMM_WORLD, 1, ierror)
  end subroutine

end program
