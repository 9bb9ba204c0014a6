/* lanecast for C++17: casts of ranges and of the pointers of an array library, and scaled casts, with results instead of statuses. Header
 * only. */
#ifndef LANECAST_HPP
#define LANECAST_HPP

#include <lanecast.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

namespace lanecast {

/* Why a call failed. */
struct error {
    lanecast_status status;
    std::uint32_t reason;
    std::uint64_t index;
    std::uint64_t code[2];
    std::string message;

    explicit error(const lanecast_error &raw)
        : status(raw.status), reason(raw.reason), index(raw.index), code{raw.code[0], raw.code[1]}, message(raw.message)
    {
    }
};

/* A value or an error. */
template <class T> class result {
  public:
    result(T value) : content(std::move(value)) {}
    result(error failure) : content(std::move(failure)) {}
    explicit operator bool() const noexcept { return content.index() == 0; }
    const T &operator*() const { return std::get<0>(content); }
    const T *operator->() const { return &std::get<0>(content); }
    const lanecast::error &failure() const { return std::get<1>(content); }

  private:
    std::variant<T, lanecast::error> content;
};

/* Nothing, where only the error is of interest. */
using done = std::monostate;

namespace detail {
template <class T> constexpr lanecast_type integer()
{
    constexpr lanecast_type from[2][4] = {{LANECAST_UINT8, LANECAST_UINT16, LANECAST_UINT32, LANECAST_UINT64},
                                          {LANECAST_INT8, LANECAST_INT16, LANECAST_INT32, LANECAST_INT64}};
    static_assert(sizeof(T) <= 8, "lanecast has integers of up to 64 bits");
    return from[std::is_signed_v<T>][sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3];
}

inline result<done> finish(lanecast_status status, const lanecast_error &raw)
{
    if (status == LANECAST_OK) {
        return done{};
    }
    return error(raw);
}
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

/* A cast from one type to another, made once and run often. */
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
    result<done> run(const void *src, void *dst, std::size_t n, const lanecast_threads *threads = nullptr) const
    {
        lanecast_error raw;
        return detail::finish(lanecast_run(&content, src, dst, n, threads, &raw), raw);
    }

    /* As lanecast_run_checked. */
    result<done> run_checked(const void *src, void *dst, std::size_t n, std::uint32_t level,
                             const lanecast_threads *threads = nullptr) const
    {
        lanecast_error raw;
        return detail::finish(lanecast_run_checked(&content, src, dst, n, level, threads, &raw), raw);
    }

    /* As lanecast_run_counted. */
    result<lanecast_report> run_counted(const void *src, void *dst, std::size_t n, std::uint32_t level,
                                        const lanecast_threads *threads = nullptr) const
    {
        lanecast_report report;
        lanecast_error raw;
        if (lanecast_run_counted(&content, src, dst, n, level, &report, threads, &raw) != LANECAST_OK) {
            return error(raw);
        }
        return report;
    }

    /* As lanecast_run_strided. */
    result<done> run(const lanecast_view &src, const lanecast_view &dst, const lanecast_threads *threads = nullptr) const
    {
        lanecast_error raw;
        return detail::finish(lanecast_run_strided(&content, &src, &dst, threads, &raw), raw);
    }

    /* For the functions of the C interface. */
    const lanecast_plan *get() const noexcept { return &content; }

  private:
    plan() = default;
    lanecast_plan content;
};

/* Casts a contiguous range (vector, array, span) to another of the same length. */
template <class Source, class Destination>
result<done> cast(const Source &src, Destination &&dst, const lanecast_options *options = nullptr)
{
    using S = std::remove_cv_t<std::remove_reference_t<decltype(*src.data())>>;
    using D = std::remove_cv_t<std::remove_reference_t<decltype(*dst.data())>>;
    if (src.size() != dst.size()) {
        lanecast_error raw{};
        raw.status = LANECAST_BAD_LAYOUT;
        error failure(raw);
        failure.message = "the source has " + std::to_string(src.size()) + " elements but the destination " +
                          std::to_string(dst.size()) + "; make them equal";
        return failure;
    }
    const auto made = plan::make(type_of<S>::value, type_of<D>::value, options);
    if (!made) {
        return made.failure();
    }
    return made->run(src.data(), dst.data(), src.size());
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
    using S = std::remove_cv_t<std::remove_reference_t<decltype(*src.data())>>;
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
    result<lanecast_scaled_report> quantize_dynamic(const lanecast_view &src, Data &&data, Scales &&scales,
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
    result<done> dequantize(const Data &data, const Scales &scales, float global, Destination &&dst,
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
    result<done> dequantize_min_max(const Data &data, const Scales &scales, const Zeros &zeros, Destination &&dst,
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
