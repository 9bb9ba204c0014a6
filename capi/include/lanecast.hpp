/* lanecast for C++17: casts of ranges and of the pointers of an array library, and scaled casts, with results instead of statuses. Header
 * only. */
#ifndef LANECAST_HPP
#define LANECAST_HPP

#include <lanecast.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

namespace lanecast {

/* Why a call failed. */
struct error {
    lanecast_status status;
    lanecast_reason reason;
    std::uint64_t index;
    std::uint64_t code[2];
    std::string message;

    explicit error(const lanecast_error &raw)
        : status(raw.status), reason(raw.reason), index(raw.index), code{raw.code[0], raw.code[1]}, message(raw.message)
    {
    }
};

#ifdef __cpp_exceptions
/* What `value()` throws if there is an error instead. */
class bad_result_access : public std::runtime_error {
  public:
    explicit bad_result_access(lanecast::error failure) : std::runtime_error(failure.message), content(std::move(failure)) {}
    const lanecast::error &error() const noexcept { return content; }

  private:
    lanecast::error content;
};
#endif

namespace detail {
[[noreturn]] inline void bad_access(const lanecast::error &failure)
{
#ifdef __cpp_exceptions
    throw bad_result_access(failure);
#else
    (void)failure;
    std::abort();
#endif
}
} // namespace detail

/* A value or an error, with the members of `std::expected<T, lanecast::error>` of C++23. As there, `*` and `->` need a value, and `error()`
 * needs an error; `value()` throws, or aborts without exceptions. An error converts to a result. */
template <class T> class [[nodiscard]] result {
  public:
    using value_type = T;
    using error_type = lanecast::error;

    result(T value) : content(std::in_place_index<0>, std::move(value)) {}
    result(lanecast::error failure) : content(std::in_place_index<1>, std::move(failure)) {}

    bool has_value() const noexcept { return content.index() == 0; }
    explicit operator bool() const noexcept { return has_value(); }

    const T &operator*() const & noexcept { return *std::get_if<0>(&content); }
    T &operator*() & noexcept { return *std::get_if<0>(&content); }
    T &&operator*() && noexcept { return std::move(*std::get_if<0>(&content)); }
    const T *operator->() const noexcept { return std::get_if<0>(&content); }
    T *operator->() noexcept { return std::get_if<0>(&content); }

    const T &value() const & { return checked(), **this; }
    T &value() & { return checked(), **this; }
    T &&value() && { return checked(), std::move(**this); }

    const lanecast::error &error() const & noexcept { return *std::get_if<1>(&content); }
    lanecast::error &&error() && noexcept { return std::move(*std::get_if<1>(&content)); }

    template <class U> T value_or(U &&other) const &
    {
        return has_value() ? **this : static_cast<T>(std::forward<U>(other));
    }
    template <class U> T value_or(U &&other) &&
    {
        return has_value() ? std::move(**this) : static_cast<T>(std::forward<U>(other));
    }

    /* `next` takes the value and returns a result. */
    template <class F> auto and_then(F &&next) const & -> std::invoke_result_t<F, const T &>
    {
        if (has_value()) {
            return std::invoke(std::forward<F>(next), **this);
        }
        return error();
    }

    /* `next` takes the value and returns another one. */
    template <class F> auto transform(F &&next) const & -> result<std::invoke_result_t<F, const T &>>
    {
        if (!has_value()) {
            return error();
        }
        if constexpr (std::is_void_v<std::invoke_result_t<F, const T &>>) {
            std::invoke(std::forward<F>(next), **this);
            return {};
        } else {
            return std::invoke(std::forward<F>(next), **this);
        }
    }

  private:
    void checked() const
    {
        if (!has_value()) {
            detail::bad_access(error());
        }
    }

    std::variant<T, lanecast::error> content;
};

/* Nothing or an error. */
template <> class [[nodiscard]] result<void> {
  public:
    using value_type = void;
    using error_type = lanecast::error;

    result() = default;
    result(lanecast::error failure) : content(std::move(failure)) {}

    bool has_value() const noexcept { return content.index() == 0; }
    explicit operator bool() const noexcept { return has_value(); }
    void operator*() const noexcept {}
    void value() const
    {
        if (!has_value()) {
            detail::bad_access(error());
        }
    }
    const lanecast::error &error() const & noexcept { return *std::get_if<1>(&content); }
    lanecast::error &&error() && noexcept { return std::move(*std::get_if<1>(&content)); }

    /* `next` takes nothing and returns a result. */
    template <class F> auto and_then(F &&next) const & -> std::invoke_result_t<F>
    {
        if (has_value()) {
            return std::invoke(std::forward<F>(next));
        }
        return error();
    }

  private:
    std::variant<std::monostate, lanecast::error> content;
};

namespace detail {
template <class T> constexpr lanecast_type integer()
{
    constexpr lanecast_type from[2][4] = {{LANECAST_UINT8, LANECAST_UINT16, LANECAST_UINT32, LANECAST_UINT64},
                                          {LANECAST_INT8, LANECAST_INT16, LANECAST_INT32, LANECAST_INT64}};
    static_assert(sizeof(T) <= 8, "lanecast has integers of up to 64 bits");
    return from[std::is_signed_v<T>][sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3];
}

inline result<void> finish(lanecast_status status, const lanecast_error &raw)
{
    if (status == LANECAST_OK) {
        return {};
    }
    return error(raw);
}

/* The elements of a contiguous range, without const. */
template <class Range>
using element_of = std::remove_cv_t<std::remove_reference_t<decltype(*std::declval<const Range &>().data())>>;
} // namespace detail

/* The type of the elements of C++; specialise it for the 16- and 8-bit floats of your library. */
template <class T> struct type_of {
    static_assert(std::is_arithmetic_v<T>, "specialise lanecast::type_of for this element");
    static constexpr lanecast_type value = [] {
        if constexpr (std::is_same_v<T, bool>) {
            return LANECAST_BOOL;
        } else if constexpr (std::is_integral_v<T>) {
            return detail::integer<T>();
        } else {
            static_assert(sizeof(T) == 4 || sizeof(T) == 8, "lanecast has no long double");
            return sizeof(T) == 4 ? LANECAST_FLOAT32 : LANECAST_FLOAT64;
        }
    }();
};

/* Elements that follow each other. Those of a source are not written. */
inline lanecast_array array(const void *data, lanecast_type type, std::size_t n)
{
    lanecast_array out{};
    out.data = const_cast<void *>(data);
    out.n = n;
    out.type = type;
    return out;
}

/* The elements of a contiguous range (vector, array, span). */
template <class Range> lanecast_array array(const Range &range)
{
    return array(range.data(), type_of<detail::element_of<Range>>::value, range.size());
}

/* An array with a shape, a range of std::int64_t, and as many strides in bytes, or nullptr for C order. It borrows both. */
template <class Shape>
lanecast_array array(const void *data, lanecast_type type, const Shape &shape, const std::int64_t *strides)
{
    auto out = array(data, type, 0);
    out.ndim = static_cast<std::int32_t>(shape.size());
    out.shape = shape.data();
    out.strides = strides;
    return out;
}

namespace detail {
template <class T> lanecast_array source(const T &operand)
{
    if constexpr (std::is_same_v<T, lanecast_array>) {
        return operand;
    } else {
        return array(operand);
    }
}

template <class T> lanecast_array target(T &operand)
{
    if constexpr (!std::is_same_v<std::remove_cv_t<T>, lanecast_array>) {
        static_assert(!std::is_const_v<std::remove_reference_t<decltype(*operand.data())>>, "the destination is const");
    }
    return source(operand);
}
} // namespace detail

/* A cast from one type to another, made once and run often. Operands are contiguous ranges (vector, array, span) or arrays of any layout,
 * as `lanecast::array` makes them. */
class plan {
  public:
    static result<plan> make(lanecast_type from, lanecast_type to, const lanecast_options *options = nullptr)
    {
        plan made;
        lanecast_error raw;
        if (lanecast_plan_init(&made.content, from, to, options, &raw) != LANECAST_OK) {
            return error(raw);
        }
        return made;
    }

    /* As lanecast_run. */
    result<void> run(const void *src, void *dst, std::size_t n, const lanecast_threads *threads = nullptr) const
    {
        lanecast_error raw;
        return detail::finish(lanecast_run(&content, src, dst, n, threads, &raw), raw);
    }

    /* As lanecast_run_array. */
    template <class Source, class Destination>
    result<void> run(const Source &src, Destination &&dst, const lanecast_threads *threads = nullptr) const
    {
        const lanecast_array from = detail::source(src), to = detail::target(dst);
        lanecast_error raw;
        return detail::finish(lanecast_run_array(&content, &from, &to, threads, &raw), raw);
    }

    /* As lanecast_run_checked. */
    template <class Source, class Destination>
    result<void> run_checked(const Source &src, Destination &&dst, lanecast_level level,
                             const lanecast_threads *threads = nullptr) const
    {
        const lanecast_array from = detail::source(src), to = detail::target(dst);
        lanecast_error raw;
        return detail::finish(lanecast_run_checked(&content, &from, &to, level, threads, &raw), raw);
    }

    /* As lanecast_run_masked, with a bit of `validity` for each element; returns how many elements are rejected. */
    template <class Source, class Destination>
    result<std::size_t> run_masked(const Source &src, Destination &&dst, lanecast_level level, std::uint8_t *validity,
                                   const lanecast_threads *threads = nullptr) const
    {
        const lanecast_array from = detail::source(src), to = detail::target(dst);
        std::size_t rejected = 0;
        lanecast_error raw;
        if (lanecast_run_masked(&content, &from, &to, level, validity, &rejected, threads, &raw) != LANECAST_OK) {
            return error(raw);
        }
        return rejected;
    }

    /* As lanecast_run_counted. */
    template <class Source, class Destination>
    result<lanecast_report> run_counted(const Source &src, Destination &&dst, lanecast_level level,
                                        const lanecast_threads *threads = nullptr) const
    {
        const lanecast_array from = detail::source(src), to = detail::target(dst);
        lanecast_report report;
        lanecast_error raw;
        if (lanecast_run_counted(&content, &from, &to, level, &report, threads, &raw) != LANECAST_OK) {
            return error(raw);
        }
        return report;
    }

    /* For the functions of the C interface. */
    const lanecast_plan *get() const noexcept { return &content; }

  private:
    plan() = default;
    lanecast_plan content;
};

/* Casts a contiguous range (vector, array, span) to another one with as many elements. */
template <class Source, class Destination>
result<void> cast(const Source &src, Destination &&dst, const lanecast_options *options = nullptr)
{
    const auto made = plan::make(type_of<detail::element_of<Source>>::value,
                                 type_of<detail::element_of<std::remove_reference_t<Destination>>>::value, options);
    return made.and_then([&](const plan &it) { return it.run(src, dst); });
}

namespace detail {
/* The bytes of a contiguous range. */
template <class Range> std::size_t bytes(const Range &range)
{
    return range.size() * sizeof(*range.data());
}
} // namespace detail

/* The scheme of a name, to be changed before a plan is made of it. */
inline result<lanecast_scaled_scheme> scheme(const char *name)
{
    lanecast_scaled_scheme named;
    lanecast_error raw;
    if (lanecast_scaled_scheme_named(name, &named, &raw) != LANECAST_OK) {
        return error(raw);
    }
    return named;
}

/* The largest magnitude of some elements. That of several parts is the largest of theirs. */
struct magnitude {
    float finite;
    bool has_non_finite;
};

/* As lanecast_scaled_finite_amax, of a contiguous range of float or of an element of your library with 16 bits. */
template <class Source> result<magnitude> finite_amax(const Source &src)
{
    using S = detail::element_of<Source>;
    float finite = 0.0F;
    std::int32_t non_finite = 0;
    lanecast_error raw;
    if (lanecast_scaled_finite_amax(type_of<S>::value, src.data(), detail::bytes(src), &finite, &non_finite, &raw) !=
        LANECAST_OK) {
        return error(raw);
    }
    return magnitude{finite, non_finite != 0};
}

/* A scaled cast of tensors of one shape. Copies share the plan of the library, which the last one frees. Buffers are contiguous ranges
 * (vector, array, span) of anything whose bytes are those of `info()`. */
class scaled_plan {
  public:
    /* As lanecast_scaled_create; `shape` is a range of std::int64_t. */
    template <class Shape>
    static result<scaled_plan> make(const char *scheme, lanecast_type from, const Shape &shape,
                                    const lanecast_scaled_options *options = nullptr)
    {
        lanecast_scaled_plan *plan = nullptr;
        lanecast_error raw;
        const auto status = lanecast_scaled_create(&plan, scheme, from, shape.data(),
                                                   static_cast<std::int32_t>(shape.size()), options, &raw);
        return status == LANECAST_OK ? own(plan) : error(raw);
    }

    /* As lanecast_scaled_create_from. */
    template <class Shape>
    static result<scaled_plan> make(const lanecast_scaled_scheme &scheme, lanecast_type from, const Shape &shape,
                                    const lanecast_scaled_options *options = nullptr)
    {
        lanecast_scaled_plan *plan = nullptr;
        lanecast_error raw;
        const auto status = lanecast_scaled_create_from(&plan, &scheme, from, shape.data(),
                                                        static_cast<std::int32_t>(shape.size()), options, &raw);
        return status == LANECAST_OK ? own(plan) : error(raw);
    }

    /* The bytes and types of the buffers. */
    const lanecast_scaled_info &info() const noexcept { return description; }

    /* As lanecast_scaled_quantize_dynamic. */
    template <class Source, class Data, class Scales>
    result<lanecast_scaled_report> quantize_dynamic(const Source &src, Data &&data, Scales &&scales,
                                                    const lanecast_threads *threads = nullptr) const
    {
        lanecast_scaled_report report;
        lanecast_error raw;
        if (lanecast_scaled_quantize_dynamic(content.get(), src.data(), detail::bytes(src), data.data(),
                                             detail::bytes(data), scales.data(), detail::bytes(scales), &report, threads,
                                             &raw) != LANECAST_OK) {
            return error(raw);
        }
        return report;
    }

    /* As lanecast_scaled_quantize_dynamic_view. */
    template <class Data, class Scales>
    result<lanecast_scaled_report> quantize_dynamic(const lanecast_array &src, Data &&data, Scales &&scales,
                                                    const lanecast_threads *threads = nullptr) const
    {
        lanecast_scaled_report report;
        lanecast_error raw;
        if (lanecast_scaled_quantize_dynamic_view(content.get(), &src, data.data(), detail::bytes(data), scales.data(),
                                                  detail::bytes(scales), &report, threads, &raw) != LANECAST_OK) {
            return error(raw);
        }
        return report;
    }

    /* As lanecast_scaled_quantize_with_amax. */
    template <class Source, class Data, class Scales>
    result<lanecast_scaled_report> quantize_with_amax(const Source &src, float amax, Data &&data, Scales &&scales) const
    {
        lanecast_scaled_report report;
        lanecast_error raw;
        if (lanecast_scaled_quantize_with_amax(content.get(), src.data(), detail::bytes(src), amax, data.data(),
                                               detail::bytes(data), scales.data(), detail::bytes(scales), &report,
                                               &raw) != LANECAST_OK) {
            return error(raw);
        }
        return report;
    }

    /* As lanecast_scaled_quantize_min_max. */
    template <class Source, class Data, class Scales, class Zeros>
    result<lanecast_scaled_report> quantize_min_max(const Source &src, Data &&data, Scales &&scales, Zeros &&zeros,
                                                    const lanecast_threads *threads = nullptr) const
    {
        lanecast_scaled_report report;
        lanecast_error raw;
        if (lanecast_scaled_quantize_min_max(content.get(), src.data(), detail::bytes(src), data.data(),
                                             detail::bytes(data), scales.data(), detail::bytes(scales), zeros.data(),
                                             detail::bytes(zeros), &report, threads, &raw) != LANECAST_OK) {
            return error(raw);
        }
        return report;
    }

    /* As lanecast_scaled_requantize, from this plan to the plan `to`. */
    template <class Source, class SourceScales, class Data, class Scales>
    result<lanecast_scaled_report> requantize(const Source &src, const SourceScales &src_scales, float global,
                                              const scaled_plan &to, Data &&data, Scales &&scales) const
    {
        lanecast_scaled_report report;
        lanecast_error raw;
        if (lanecast_scaled_requantize(content.get(), src.data(), detail::bytes(src), src_scales.data(),
                                       detail::bytes(src_scales), global, to.get(), data.data(), detail::bytes(data),
                                       scales.data(), detail::bytes(scales), &report, &raw) != LANECAST_OK) {
            return error(raw);
        }
        return report;
    }

    /* As lanecast_scaled_quantize. */
    template <class Source, class Scales, class Data>
    result<lanecast_scaled_report> quantize(const Source &src, const Scales &scales, float global, Data &&data,
                                            const lanecast_threads *threads = nullptr) const
    {
        lanecast_scaled_report report;
        lanecast_error raw;
        if (lanecast_scaled_quantize(content.get(), src.data(), detail::bytes(src), scales.data(), detail::bytes(scales),
                                     global, data.data(), detail::bytes(data), &report, threads, &raw) != LANECAST_OK) {
            return error(raw);
        }
        return report;
    }

    /* As lanecast_scaled_dequantize, to the type of the elements of `dst`. */
    template <class Data, class Scales, class Destination>
    result<void> dequantize(const Data &data, const Scales &scales, float global, Destination &&dst,
                            const lanecast_threads *threads = nullptr) const
    {
        using D = std::remove_cv_t<std::remove_reference_t<decltype(*dst.data())>>;
        lanecast_error raw;
        return detail::finish(lanecast_scaled_dequantize(content.get(), data.data(), detail::bytes(data), scales.data(),
                                                         detail::bytes(scales), global, type_of<D>::value, dst.data(),
                                                         detail::bytes(dst), threads, &raw),
                              raw);
    }

    /* As lanecast_scaled_dequantize_min_max, to the type of the elements of `dst`. */
    template <class Data, class Scales, class Zeros, class Destination>
    result<void> dequantize_min_max(const Data &data, const Scales &scales, const Zeros &zeros, Destination &&dst,
                                    const lanecast_threads *threads = nullptr) const
    {
        using D = std::remove_cv_t<std::remove_reference_t<decltype(*dst.data())>>;
        lanecast_error raw;
        return detail::finish(lanecast_scaled_dequantize_min_max(content.get(), data.data(), detail::bytes(data),
                                                                 scales.data(), detail::bytes(scales), zeros.data(),
                                                                 detail::bytes(zeros), type_of<D>::value, dst.data(),
                                                                 detail::bytes(dst), threads, &raw),
                              raw);
    }

    /* As lanecast_scaled_amax. */
    template <class Source> result<float> amax(const Source &src, const lanecast_threads *threads = nullptr) const
    {
        float amax = 0.0F;
        lanecast_error raw;
        if (lanecast_scaled_amax(content.get(), src.data(), detail::bytes(src), &amax, threads, &raw) != LANECAST_OK) {
            return error(raw);
        }
        return amax;
    }

    /* For the functions of the C interface. */
    const lanecast_scaled_plan *get() const noexcept { return content.get(); }

  private:
    scaled_plan() = default;

    /* Takes the plan over. */
    static result<scaled_plan> own(lanecast_scaled_plan *plan)
    {
        scaled_plan made;
        lanecast_error raw;
        made.content.reset(plan, lanecast_scaled_destroy);
        if (lanecast_scaled_describe(plan, &made.description, &raw) != LANECAST_OK) {
            return error(raw);
        }
        return made;
    }

    std::shared_ptr<lanecast_scaled_plan> content;
    lanecast_scaled_info description{};
};

} // namespace lanecast

#endif
