// Scaled casts with lanecast.hpp: weights to MXFP8, which are 8-bit floats with a power of two for each 32, and back.
#include <lanecast.hpp>

#include <array>
#include <cstdio>
#include <vector>

int main()
{
    const std::array<std::int64_t, 2> shape = {4, 64};
    std::vector<float> weights(4 * 64);
    for (std::size_t i = 0; i < weights.size(); i++) {
        weights[i] = 0.001F * static_cast<float>(i * i);
    }
    const auto plan = lanecast::scaled_plan::make("mx", LANECAST_FLOAT32, shape);
    if (!plan) {
        std::fprintf(stderr, "%s\n", plan.failure().message.c_str());
        return 1;
    }
    std::vector<std::uint8_t> codes(plan->info().data_len), scales(plan->info().scales_len);
    const auto report = plan->quantize_dynamic(weights, codes, scales);
    std::vector<float> back(weights.size());
    const auto done = report ? plan->dequantize(codes, scales, report->global, back) : report.failure();
    if (!done) {
        std::fprintf(stderr, "%s\n", done.failure().message.c_str());
        return 1;
    }
    const auto again = plan->quantize(back, scales, report->global, codes);
    std::printf("%d elements, %d scales of %s; the last is %g of %g, the largest magnitude %g\n",
                static_cast<int>(again->elements), static_cast<int>(plan->info().scales),
                lanecast_type_name(plan->info().scale_type), static_cast<double>(back.back()),
                static_cast<double>(weights.back()), static_cast<double>(*plan->amax(weights)));
    codes.pop_back();
    const auto shorter = plan->quantize_dynamic(weights, codes, scales);
    std::printf("%s\n", shorter.failure().message.c_str());
    return shorter ? 1 : 0;
}
