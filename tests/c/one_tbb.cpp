// A program that asks oneTBB for the NUMA nodes; its tbbbind loads a topology with hwloc. Prints the
// PUs of each node.

#include <cstdio>
#include <oneapi/tbb/info.h>

int main()
{
    for (tbb::numa_node_id node : tbb::info::numa_nodes())
        std::printf("%d: %d\n", node, tbb::info::default_concurrency(node));
    return 0;
}
