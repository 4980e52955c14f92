/* What topobroker.hpp adds to the functions of C, on a machine of `Package:2 Core:4 PU:2`. */
#include <topobroker.hpp>

#include <cstdio>
#include <map>
#include <numeric>
#include <sstream>

static int failures = 0;
#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            std::printf("line %d: %s\n", __LINE__, #condition);                                    \
            failures++;                                                                            \
        }                                                                                          \
    } while (0)

int main()
{
    using topobroker::get;
    const tb_topology *node = get(tb_adopt);
    CHECK(node == get(tb_adopted));

    tb_obj core = get(tb_obj_with_type, node, TB_CORE, std::size_t(3));
    topobroker::set cpus;
    topobroker::check(tb_obj_set(node, core, TB_CPUSET, cpus));
    CHECK(std::accumulate(cpus.begin(), cpus.end(), 0u) == 6 + 7);
    CHECK(get(tb_obj_covering, node, cpus) == core);
    CHECK(topobroker::text(tb_set_text, cpus, TB_SET_LIST) == "6-7");
    CHECK(topobroker::text(tb_obj_type_name, node, core, true) == "Core");

    topobroker::set other("7-8");
    topobroker::set copy = other;
    copy |= cpus;
    CHECK(copy == topobroker::set("6-8") && other == topobroker::set("7-8"));
    copy -= cpus;
    copy &= other;
    CHECK(copy == topobroker::set("8") && copy != other);
    topobroker::set moved = std::move(copy);
    CHECK(copy == topobroker::set() && moved == topobroker::set("8"));
    copy = moved;
    CHECK(copy == moved && topobroker::set().begin() == topobroker::set().end());
    const tb_set *raw = moved;
    std::map<topobroker::set, int> by_set;
    by_set[copy] = by_set[moved] = 1;
    CHECK(moved == raw && cpus != raw && by_set.size() == 1);
    std::ostringstream printed;
    printed << topobroker::set("0-2,5");
    CHECK(printed.str() == "0-2,5");
    CHECK(get(tb_obj_covering, node, topobroker::set("0-7")) != core);
    try {
        topobroker::set infinite("12-");
        infinite.begin();
        CHECK(!"an infinite set must not be iterated");
    } catch (const std::length_error &) {
    }

    topobroker::handle<tb_topology> view = get(tb_view_new, node, cpus, std::uint64_t(0));
    CHECK(tb_objs_count_with_type(view.get(), TB_PU) == 2);
    auto data = topobroker::fill<tb_obj_data>(tb_obj_get, node, core);
    CHECK(data.type == TB_CORE && data.logical_index == 3);
    auto children = topobroker::list<tb_obj>(tb_obj_children, node, core, TB_CHILDREN_NORMAL);
    CHECK(children.size() == 2);
    CHECK(topobroker::list<tb_obj>(tb_obj_children, node, core, TB_CHILDREN_MISC).empty());
    CHECK(topobroker::structs<tb_network>(tb_networks, node, false).empty());
    tb_obj memory = get(tb_obj_with_type, node, TB_NUMANODE, std::size_t(0));
    auto pages = topobroker::structs<tb_page_type>(tb_obj_page_types, node, memory);
    CHECK(pages.size() == 1 && pages[0].size == 4096);

    try {
        get(tb_pu_by_os_index, node, 16u);
        CHECK(!"PU 16 must not be found");
    } catch (const topobroker::error &error) {
        CHECK(error.status() == TB_ERR_NOT_FOUND && error.what() == std::string(tb_error_detail()));
    }
    try {
        topobroker::set("seven");
        CHECK(!"a text that is no set must be refused");
    } catch (const topobroker::error &error) {
        CHECK(error.status() == TB_ERR_TEXT);
    }
    std::printf("%d failures\n", failures);
    return failures != 0;
}
