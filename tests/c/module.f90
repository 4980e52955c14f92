! What the module of topobroker.f90 binds, on a machine of `Package:2 Core:4 PU:2`.
program module_test
    use topobroker
    implicit none
    type(c_ptr) :: node, view, cpus
    integer(c_int32_t) :: core, package, found
    integer(c_int64_t) :: pu

    if (tb_adopt(node) /= TB_OK) stop 1
    cpus = tb_set_new()
    if (tb_obj_with_type(node, TB_CORE, 5_c_size_t, core) /= TB_OK) stop 2
    if (tb_obj_set(node, core, TB_CPUSET, cpus) /= TB_OK) stop 3
    if (tb_obj_covering(node, cpus, found) /= TB_OK .or. found /= core) stop 4
    if (tb_obj_ancestor_with_type(node, core, TB_PACKAGE, package) /= TB_OK) stop 5
    pu = tb_set_next(cpus, -1_c_int64_t)
    if (pu /= 10 .or. .not. tb_set_has(cpus, 11_c_int32_t) .or. tb_set_has(cpus, 12_c_int32_t)) stop 6
    if (tb_nearest(node, cpus, TB_RANK_GPU, found) == TB_OK) stop 7
    print '(a)', tb_error_detail()
    if (tb_obj_set(node, package, TB_CPUSET, cpus) /= TB_OK) stop 8
    if (tb_view_effective(view) /= TB_OK) stop 9
    print '(i0,a,i0,a,i0,a)', tb_objs_count_with_type(node, TB_NUMANODE), ' NUMA node, ', &
        tb_objs_count_with_type(view, TB_CORE), ' cores, ', tb_set_weight(cpus), ' PUs'
    if (tb_source_affinity(cpus) /= TB_OK .or. tb_set_weight(cpus) < 1) stop 10
    call tb_topology_free(view)
    call tb_set_free(cpus)
end program
