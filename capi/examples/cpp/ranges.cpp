// Casts of ranges with lanecast.hpp: float32 to bytes, what that loses, and where.
#include <lanecast.hpp>

#include <array>
#include <iostream>
#include <vector>

int main()
{
    const std::vector<float> measured = {1.5F, -3.0F, 1e9F, 42.0F};
    std::array<std::uint8_t, 4> bytes{};
    if (const auto done = lanecast::cast(measured, bytes); !done) {
        std::cerr << done.error().message << '\n';
        return 1;
    }
    std::cout << +bytes[0] << ' ' << +bytes[1] << ' ' << +bytes[2] << ' ' << +bytes[3] << '\n';

    const auto plan = lanecast::plan::make(LANECAST_FLOAT32, LANECAST_UINT8).value();
    const auto report = plan.run_counted(measured, bytes, LANECAST_LEVEL_EXACT).value();
    std::cout << report.saturated << " saturated, " << report.inexact << " inexact\n";
    std::cout << plan.run_checked(measured, bytes, LANECAST_LEVEL_RANGE).error().message << '\n';
}
