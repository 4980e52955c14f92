! Splits the processes of a job by the L3 caches that they are bound to. Link it with mpi_handles.c.
program mpi_groups
    use, intrinsic :: iso_c_binding
    use mpi
    implicit none

    interface
        integer(c_int) function tb_example_guided(comm, uri, key, newcomm) bind(c)
            import :: c_int, c_char
            integer(c_int), value :: comm
            character(kind=c_char), intent(in) :: uri(*)
            integer(c_int), value :: key
            integer(c_int), intent(out) :: newcomm
        end function
    end interface

    integer :: rank, members, error
    integer(c_int) :: near

    call MPI_Init(error)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
    error = tb_example_guided(MPI_COMM_WORLD, 'hwloc://L3Cache' // c_null_char, 0_c_int, near)
    if (error == MPI_SUCCESS .and. near /= MPI_COMM_NULL) then
        call MPI_Comm_size(near, members, error)
        print '(a,i0,a,i0,a)', 'rank ', rank, ': ', members, ' ranks on its L3 cache'
        call MPI_Comm_free(near, error)
    end if
    call MPI_Finalize(error)
end program
