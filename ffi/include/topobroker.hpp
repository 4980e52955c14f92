/* topobroker.h for C++ (11 and later): handles free themselves, and failures are exceptions.
 *
 *     const tb_topology *node = topobroker::get(tb_adopt);
 *     auto mine = topobroker::get(tb_view_effective);
 *     topobroker::set cpus;
 *     topobroker::check(tb_obj_set(mine.get(), core, TB_CPUSET, cpus));
 *     for (std::uint32_t pu : cpus)
 *         std::cout << pu << '\n';
 *
 * Functions keep their names of C. How to call them depends on what they store:
 *
 * - topobroker::get: one value as the last argument; a handle if the caller must free it;
 * - topobroker::fill: a struct that is followed by its size;
 * - topobroker::text: a text, by buffer, size and length;
 * - topobroker::list: an array, by array, capacity and count;
 * - topobroker::structs: an array of structs, by array, size of one, capacity and count;
 * - topobroker::check: nothing, several values, or a set. */
#ifndef TOPOBROKER_HPP
#define TOPOBROKER_HPP

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <ostream>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <topobroker.h>

namespace topobroker {

/* A call that failed; what() is its tb_error_detail(). */
class error : public std::runtime_error {
public:
    explicit error(tb_status status) : std::runtime_error(message(status)), status_(status) {}
    tb_status status() const noexcept { return status_; }

private:
    /* TB_ERR_BUSY leaves the detail of an earlier failure. */
    static const char *message(tb_status status)
    {
        return status == TB_ERR_BUSY ? tb_strerror(status) : tb_error_detail();
    }

    tb_status status_;
};

inline void check(tb_status status)
{
    if (status != TB_OK)
        throw error(status);
}

struct deleter {
    void operator()(tb_set *it) const noexcept { tb_set_free(it); }
    void operator()(tb_topology *it) const noexcept { tb_topology_free(it); }
    void operator()(tb_job *it) const noexcept { tb_job_free(it); }
    void operator()(tb_links *it) const noexcept { tb_links_free(it); }
    void operator()(tb_description *it) const noexcept { tb_description_free(it); }
    void operator()(tb_publication *it) const noexcept { tb_publication_free(it); }
    void operator()(tb_job_publication *it) const noexcept { tb_job_publication_free(it); }
    void operator()(tb_gathering *it) const noexcept { tb_gathering_free(it); }
};

template <class T>
using handle = std::unique_ptr<T, deleter>;

/* What a pointer to T as the last argument of a function gives to C++. */
template <class T>
struct stored {
    using type = T;
};
template <class T>
struct stored<T *> {
    using type = handle<T>;
};
template <class T>
struct stored<const T *> {
    using type = const T *;
};

template <class... P>
struct last;
template <class P>
struct last<P *> {
    using type = P;
};
template <class P, class Q, class... R>
struct last<P, Q, R...> : last<Q, R...> {};

template <class... P, class... A>
typename stored<typename last<P...>::type>::type get(tb_status (*function)(P...), A &&...arguments)
{
    using value_type = typename last<P...>::type;
    static_assert(!std::is_const<value_type>::value && !std::is_void<value_type>::value &&
                      !std::is_same<value_type, void *>::value && !std::is_same<value_type, tb_set>::value,
                  "the last argument of this function stores no value: use topobroker::check");
    value_type value{};
    check(function(std::forward<A>(arguments)..., &value));
    return typename stored<value_type>::type(value);
}

template <class T, class F, class... A>
T fill(F function, A &&...arguments)
{
    T data{};
    check(function(std::forward<A>(arguments)..., &data, sizeof data));
    return data;
}

template <class F, class... A>
std::string text(F function, A &&...arguments)
{
    std::size_t length = 0;
    std::string text(1, '\0');
    tb_status status;
    /* It may have grown between two calls. */
    while ((status = function(arguments..., &text[0], text.size(), &length)) == TB_ERR_TRUNCATED)
        text.resize(length + 1);
    check(status);
    text.resize(length);
    return text;
}

template <class T, class F, class... A>
std::vector<T> list(F function, A &&...arguments)
{
    std::vector<T> values;
    std::size_t count = 0;
    do {
        values.resize(count);
        check(function(arguments..., values.data(), values.size(), &count));
    } while (count > values.size());
    values.resize(count);
    return values;
}

template <class T, class F, class... A>
std::vector<T> structs(F function, A &&...arguments)
{
    auto sized = [&](T *values, std::size_t capacity, std::size_t *count) {
        return function(arguments..., values, sizeof(T), capacity, count);
    };
    return list<T>(sized);
}

/* A set of OS indexes. It converts to the tb_set of C, which lives as long as this set. Sets are
 * ordered as by tb_set_compare. */
class set {
public:
    class iterator {
    public:
        using iterator_category = std::input_iterator_tag;
        using value_type = std::uint32_t;
        using difference_type = std::ptrdiff_t;
        using pointer = const std::uint32_t *;
        using reference = std::uint32_t;

        iterator() = default;
        iterator(const tb_set *set, std::int64_t index) : set_(set), index_(index) {}
        reference operator*() const { return static_cast<std::uint32_t>(index_); }
        iterator &operator++()
        {
            index_ = tb_set_next(set_, index_);
            return *this;
        }
        iterator operator++(int)
        {
            iterator before = *this;
            ++*this;
            return before;
        }
        bool operator==(const iterator &other) const { return index_ == other.index_; }
        bool operator!=(const iterator &other) const { return index_ != other.index_; }

    private:
        const tb_set *set_ = nullptr;
        std::int64_t index_ = -1;
    };

    set() : set_(tb_set_new()) {}
    /* Of a list such as 0-3,8, or of a mask that begins with 0x. */
    explicit set(const std::string &text) : set() { check(tb_set_parse(set_.get(), text.c_str())); }
    set(const set &other) : set_(tb_set_dup(other)) {}
    /* `other` is empty afterwards. */
    set(set &&other) noexcept : set() { set_.swap(other.set_); }
    set &operator=(set other) noexcept
    {
        set_.swap(other.set_);
        return *this;
    }

    operator tb_set *() & { return set_.get(); }
    operator const tb_set *() const { return set_.get(); }
    /* A set is no condition: ask tb_set_is_empty. */
    explicit operator bool() & = delete;
    explicit operator bool() const & = delete;

    /* std::length_error if the set is infinite. */
    iterator begin() const
    {
        if (tb_set_weight(*this) < 0)
            throw std::length_error("topobroker: an infinite set has no end");
        return iterator(*this, tb_set_first(*this));
    }
    iterator end() const { return iterator(*this, -1); }

    set &operator|=(const set &other) { return combine(TB_SET_OR, other); }
    set &operator&=(const set &other) { return combine(TB_SET_AND, other); }
    set &operator-=(const set &other) { return combine(TB_SET_ANDNOT, other); }
    friend bool operator==(const set &one, const set &other) { return tb_set_is_equal(one, other); }
    friend bool operator!=(const set &one, const set &other) { return !(one == other); }
    friend bool operator==(const set &one, const tb_set *other) { return tb_set_is_equal(one, other); }
    friend bool operator!=(const set &one, const tb_set *other) { return !(one == other); }
    friend bool operator<(const set &one, const set &other) { return tb_set_compare(one, other) < 0; }
    friend std::ostream &operator<<(std::ostream &out, const set &set)
    {
        return out << text(tb_set_text, set, std::int32_t(TB_SET_LIST));
    }

private:
    set &combine(tb_set_operation operation, const set &other)
    {
        check(tb_set_combine(*this, operation, other));
        return *this;
    }

    handle<tb_set> set_;
};

} /* namespace topobroker */

#endif
