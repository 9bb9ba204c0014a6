// Casts of ranges with lanecast.hpp: float32 to bytes, with a report of what is lost.
#include <lanecast.hpp>

#include <array>
#include <cstdio>
#include <vector>

int main()
{
    const std::vector<float> measured = {1.5F, -3.0F, 1e9F, 42.0F};
    std::array<std::uint8_t, 4> bytes{};
    if (const auto cast = lanecast::cast(measured, bytes); !cast) {
        std::fprintf(stderr, "%s\n", cast.failure().message.c_str());
        return 1;
    }
    const auto plan = lanecast::plan::make(LANECAST_FLOAT32, LANECAST_UINT8);
    const auto report = plan->run_counted(measured.data(), bytes.data(), measured.size(), LANECAST_EXACT);
    const auto checked = plan->run_checked(measured.data(), bytes.data(), measured.size(), LANECAST_RANGE);
    std::printf("%d %d %d %d, saturated %d, inexact %d\n", bytes[0], bytes[1], bytes[2], bytes[3],
                static_cast<int>(report->saturated), static_cast<int>(report->inexact));
    std::printf("element %d: %s\n", static_cast<int>(checked.failure().index), checked.failure().message.c_str());
    return lanecast::cast(measured, std::array<double, 3>{}) ? 1 : 0;
}
