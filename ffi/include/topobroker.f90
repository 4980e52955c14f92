! topobroker.h for Fortran (2003 and later): compile it with your program, and link libtopobroker-reader.
!
!     use topobroker
!     type(c_ptr) :: node
!     if (tb_adopt(node) /= TB_OK) stop 1
!     print '(i0,a)', tb_objs_count_with_type(node, TB_CORE), ' cores'
!
! Functions and constants have their names of C, where topobroker.h describes them. These are the ones
! that programs ask for; others are bound in the same way. Handles are c_ptr.
module topobroker
    use, intrinsic :: iso_c_binding
    implicit none

    ! tb_status: those that programs distinguish
    integer(c_int), parameter :: TB_OK = 0, TB_ERR_ARGUMENT = -1, TB_ERR_NOT_FOUND = -2, &
        TB_ERR_KEYS = -5, TB_ERR_SEGMENT = -8, TB_ERR_DIFFERENT = -10
    ! TB_OBJ_NONE, which is UINT32_MAX in C
    integer(c_int32_t), parameter :: TB_OBJ_NONE = -1
    ! tb_type
    integer(c_int), parameter :: TB_MACHINE = 0, TB_PACKAGE = 1, TB_CORE = 2, TB_PU = 3, &
        TB_L2CACHE = 5, TB_L3CACHE = 6, TB_GROUP = 12, TB_NUMANODE = 13
    ! tb_which_set
    integer(c_int), parameter :: TB_CPUSET = 0, TB_NODESET = 2
    ! tb_rank_device
    integer(c_int), parameter :: TB_RANK_NIC = 0, TB_RANK_GPU = 1

    interface
        integer(c_int) function tb_adopt(topology) bind(c)
            import :: c_int, c_ptr
            type(c_ptr), intent(out) :: topology
        end function

        integer(c_int) function tb_view_effective(view) bind(c)
            import :: c_int, c_ptr
            type(c_ptr), intent(out) :: view
        end function

        subroutine tb_topology_free(topology) bind(c)
            import :: c_ptr
            type(c_ptr), value :: topology
        end subroutine

        integer(c_size_t) function tb_objs_count_with_type(topology, type) bind(c)
            import :: c_size_t, c_ptr, c_int32_t
            type(c_ptr), value :: topology
            integer(c_int32_t), value :: type
        end function

        integer(c_int) function tb_obj_with_type(topology, type, index, obj) bind(c)
            import :: c_int, c_ptr, c_int32_t, c_size_t
            type(c_ptr), value :: topology
            integer(c_int32_t), value :: type
            integer(c_size_t), value :: index
            integer(c_int32_t), intent(out) :: obj
        end function

        integer(c_int) function tb_obj_covering(topology, set, obj) bind(c)
            import :: c_int, c_ptr, c_int32_t
            type(c_ptr), value :: topology, set
            integer(c_int32_t), intent(out) :: obj
        end function

        integer(c_int) function tb_obj_ancestor_with_type(topology, obj, type, ancestor) bind(c)
            import :: c_int, c_ptr, c_int32_t
            type(c_ptr), value :: topology
            integer(c_int32_t), value :: obj, type
            integer(c_int32_t), intent(out) :: ancestor
        end function

        integer(c_int) function tb_obj_set(topology, obj, which, set) bind(c)
            import :: c_int, c_ptr, c_int32_t
            type(c_ptr), value :: topology, set
            integer(c_int32_t), value :: obj, which
        end function

        integer(c_int) function tb_nearest(topology, cpuset, device, obj) bind(c)
            import :: c_int, c_ptr, c_int32_t
            type(c_ptr), value :: topology, cpuset
            integer(c_int32_t), value :: device
            integer(c_int32_t), intent(out) :: obj
        end function

        integer(c_int) function tb_source_affinity(cpuset) bind(c)
            import :: c_int, c_ptr
            type(c_ptr), value :: cpuset
        end function

        type(c_ptr) function tb_set_new() bind(c)
            import :: c_ptr
        end function

        subroutine tb_set_free(set) bind(c)
            import :: c_ptr
            type(c_ptr), value :: set
        end subroutine

        logical(c_bool) function tb_set_has(set, index) bind(c)
            import :: c_bool, c_ptr, c_int32_t
            type(c_ptr), value :: set
            integer(c_int32_t), value :: index
        end function

        integer(c_int64_t) function tb_set_weight(set) bind(c)
            import :: c_int64_t, c_ptr
            type(c_ptr), value :: set
        end function

        integer(c_int64_t) function tb_set_next(set, previous) bind(c)
            import :: c_int64_t, c_ptr
            type(c_ptr), value :: set
            integer(c_int64_t), value :: previous
        end function

        type(c_ptr) function tb_error_detail_c() bind(c, name='tb_error_detail')
            import :: c_ptr
        end function
    end interface

contains

    ! Message of the last failed call of this thread.
    function tb_error_detail() result(message)
        character(:), allocatable :: message
        character(kind=c_char), pointer :: letters(:)
        integer :: length

        ! At most 1023 bytes and the zero.
        call c_f_pointer(tb_error_detail_c(), letters, [1024])
        length = 0
        do while (letters(length + 1) /= c_null_char)
            length = length + 1
        end do
        allocate (character(length) :: message)
        message = transfer(letters(1:length), message)
    end function
end module
