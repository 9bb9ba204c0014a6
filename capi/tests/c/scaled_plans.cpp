// Scaled casts by lanecast.hpp: schemes of the caller, views, parts, zero points, and casts from one scheme to another.
#include <lanecast.hpp>

#include "check.h"

#include <array>
#include <limits>
#include <vector>

using bytes = std::vector<std::uint8_t>;

static const std::array<std::int64_t, 2> shape = {4, 64};

static std::vector<float> weights()
{
    std::vector<float> out(4 * 64);
    for (std::size_t i = 0; i < out.size(); i++) {
        out[i] = static_cast<float>(i * 37 % 101) / 8.0F - 6.0F;
    }
    return out;
}

template <class Scheme> static lanecast::scaled_plan made(const Scheme &scheme)
{
    const auto plan = lanecast::scaled_plan::make(scheme, LANECAST_FLOAT32, shape);
    if (!plan) {
        std::printf("%s\n", plan.error().message.c_str());
        std::exit(1);
    }
    return *plan;
}

static void schemes()
{
    const auto scheme = lanecast::scheme("fp8-group128");
    CHECK(scheme && scheme->block[0] == 128);
    auto shorter = *scheme;
    shorter.block[0] = 32;
    CHECK(made("fp8-group128").info().scales == 4 && made(shorter).info().scales == 8);
    shorter.block[0] = 0;
    const auto wrong = lanecast::scaled_plan::make(shorter, LANECAST_FLOAT32, shape);
    CHECK(!wrong && wrong.error().status == LANECAST_ERR_BAD_LAYOUT);
    const auto unknown = lanecast::scheme("mx8");
    CHECK(!unknown && unknown.error().status == LANECAST_ERR_BAD_NAME);
}

static void views_and_parts()
{
    const auto x = weights();
    const auto plan = made("nvfp4");
    bytes codes(plan.info().data_len), scales(plan.info().scales_len), its(codes.size()), other(scales.size());
    const auto report = plan.quantize_dynamic(x, codes, scales);
    CHECK(report && report->elements == x.size());
    std::vector<float> columns(x.size());
    for (std::size_t i = 0; i < x.size(); i++) {
        columns[i % 64 * 4 + i / 64] = x[i];
    }
    const std::array<std::int64_t, 2> strides = {4, 16};
    const lanecast_array view = lanecast::array(columns.data(), LANECAST_FLOAT32, shape, strides.data());
    const auto viewed = plan.quantize_dynamic(view, its, other, lanecast_pool());
    CHECK(viewed && viewed->global == report->global && its == codes && other == scales);
    its.pop_back();
    const auto shorter = plan.quantize_dynamic(view, its, other);
    CHECK(!shorter && shorter.error().status == LANECAST_ERR_BAD_LENGTH);
    its.resize(codes.size());
    const auto amax = lanecast::finite_amax(x);
    CHECK(amax && amax->finite == *plan.amax(x) && !amax->has_non_finite && !lanecast::finite_amax(codes));
    const auto part = plan.quantize_with_amax(x, amax->finite, its, other);
    CHECK(part && part->global == report->global && its == codes && other == scales);
    CHECK(!plan.quantize_with_amax(x, std::numeric_limits<float>::infinity(), its, other));
}

static void requantized()
{
    const auto x = weights();
    const auto from = made("mx"), to = made("fp8-row");
    bytes codes(from.info().data_len), scales(from.info().scales_len), wanted(to.info().data_len), its(wanted.size());
    bytes steps(to.info().scales_len), other(steps.size());
    std::vector<float> values(x.size());
    CHECK(from.quantize_dynamic(x, codes, scales) && from.dequantize(codes, scales, 1.0F, values));
    CHECK(to.quantize_dynamic(values, wanted, steps));
    CHECK(from.requantize(codes, scales, 1.0F, to, its, other) && its == wanted && other == steps);
    const auto swapped = to.requantize(codes, scales, 1.0F, from, its, other);
    CHECK(!swapped && swapped.error().status == LANECAST_ERR_BAD_LENGTH);
}

static void zero_points()
{
    const auto x = weights();
    auto scheme = *lanecast::scheme("int8-row");
    scheme.rule = LANECAST_SCALE_RULE_MIN_MAX;
    scheme.element = LANECAST_UINT8;
    const auto plan = made(scheme);
    bytes codes(plan.info().data_len), zeros(plan.info().zeros_len);
    std::vector<float> scales(plan.info().scales), back(x.size());
    CHECK(zeros.size() == 4 && plan.quantize_min_max(x, codes, scales, zeros));
    CHECK(plan.dequantize_min_max(codes, scales, zeros, back));
    for (std::size_t i = 0; i < x.size(); i++) {
        const auto step = scales[i / 64];
        CHECK(back[i] - x[i] <= step && x[i] - back[i] <= step);
    }
    zeros.pop_back();
    const auto shorter = plan.quantize_min_max(x, codes, scales, zeros);
    CHECK(!shorter && shorter.error().status == LANECAST_ERR_BAD_LENGTH);
    CHECK(!plan.dequantize_min_max(codes, scales, zeros, back));
}

int main()
{
    schemes();
    views_and_parts();
    requantized();
    zero_points();
    return report();
}
