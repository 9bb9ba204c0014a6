// Scaled casts with lanecast.hpp: weights to MXFP8, which are 8-bit floats with a power of two for each 32, and back.
#include <lanecast.hpp>

#include <array>
#include <iostream>
#include <vector>

int main()
{
    const std::array<std::int64_t, 2> shape = {4, 64};
    std::vector<float> weights(4 * 64), back(weights.size());
    for (std::size_t i = 0; i < weights.size(); i++) {
        weights[i] = 0.001F * static_cast<float>(i * i);
    }
    const auto plan = lanecast::scaled_plan::make("mx", LANECAST_FLOAT32, shape).value();
    std::vector<std::uint8_t> codes(plan.info().data_len), scales(plan.info().scales_len);
    const auto report = plan.quantize_dynamic(weights, codes, scales).value();
    plan.dequantize(codes, scales, report.global, back).value();
    std::cout << report.elements << " elements, " << plan.info().scales << " scales of "
              << lanecast_type_name(plan.info().scale_type) << "; the last is " << back.back() << " of " << weights.back()
              << ", the largest magnitude " << plan.amax(weights).value() << '\n';

    codes.pop_back();
    std::cout << plan.quantize_dynamic(weights, codes, scales).error().message << '\n';
}
