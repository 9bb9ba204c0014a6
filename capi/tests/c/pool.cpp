// A pool of C++ threads as the host's parallel loop, for the thread sanitizer: the library calls it from several threads at once.
//
// The library itself is not instrumented. What is watched: this program, its pool, and the memory that it shares with the library before
// and after each call; a task that the library would run after the loop has returned would race with the checks here, and so
// would a `task_context` or a buffer that is used too long.
#include <lanecast.h>

#include "arrays.h"
#include "check.h"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

// What the library does in functions of the C library, such as `memcpy`, is left out: its locks are not seen, so that this would look
// like races.
extern "C" const char *__tsan_default_suppressions();
extern "C" const char *__tsan_default_suppressions()
{
    return "called_from_lib:liblanecast";
}

namespace {

class Pool {
public:
    explicit Pool(std::size_t count)
    {
        for (std::size_t i = 0; i < count; i++) {
            threads.emplace_back([this] { work(); });
        }
    }

    ~Pool()
    {
        {
            std::lock_guard<std::mutex> lock(mutex);
            ending = true;
        }
        wake.notify_all();
        for (std::thread &thread : threads) {
            thread.join();
        }
    }

    // Runs all tasks on the threads of the pool, none on the calling one, and waits for them.
    void loop(std::size_t tasks, lanecast_task task, void *context)
    {
        std::size_t left = tasks;
        std::condition_variable done;
        std::unique_lock<std::mutex> lock(mutex);
        calls++;
        for (std::size_t i = 0; i < tasks; i++) {
            queue.push_back([this, task, context, i, &left, &done] {
                task(context, i);
                std::lock_guard<std::mutex> inner(mutex);
                if (--left == 0) {
                    done.notify_one();
                }
            });
        }
        wake.notify_all();
        done.wait(lock, [&left] { return left == 0; });
    }

    std::size_t called()
    {
        std::lock_guard<std::mutex> lock(mutex);
        return calls;
    }

private:
    void work()
    {
        std::unique_lock<std::mutex> lock(mutex);
        for (;;) {
            wake.wait(lock, [this] { return ending || !queue.empty(); });
            if (queue.empty()) {
                return;
            }
            const std::function<void()> job = std::move(queue.front());
            queue.pop_front();
            lock.unlock();
            job();
            lock.lock();
        }
    }

    std::mutex mutex;
    std::condition_variable wake;
    std::deque<std::function<void()>> queue;
    std::vector<std::thread> threads;
    std::size_t calls = 0;
    bool ending = false;
};

extern "C" void loop(void *context, std::size_t tasks, lanecast_task task, void *task_context)
{
    static_cast<Pool *>(context)->loop(tasks, task, task_context);
}

// All kinds of casts, with buffers that no other thread has; the number of wrong results.
std::size_t casts(const lanecast_threads *threads, std::int32_t first)
{
    const std::size_t n = 1500000;
    std::vector<std::int32_t> src(n);
    std::vector<double> wide(n, 0.5);
    std::vector<std::int16_t> narrow(n);
    std::vector<std::uint8_t> mask((n + 7) / 8);
    lanecast_plan widen, cut;
    lanecast_error error;
    lanecast_report losses;
    std::size_t wrong = 0, rejected = 0;
    for (std::size_t i = 0; i < n; i++) {
        src[i] = first + static_cast<std::int32_t>(i);
    }
    wrong += lanecast_plan_init(&widen, LANECAST_INT32, LANECAST_FLOAT64, nullptr, &error) != LANECAST_OK;
    wrong += lanecast_plan_init(&cut, LANECAST_INT32, LANECAST_INT16, nullptr, &error) != LANECAST_OK;
    wrong += lanecast_run(&widen, src.data(), wide.data(), n, threads, &error) != LANECAST_OK;
    for (std::size_t i = 0; i < n; i++) {
        wrong += wide[i] != static_cast<double>(src[i]);
    }
    // 0 to 32767 fit; `first` is small and positive.
    const std::size_t fit = 32768 - static_cast<std::size_t>(first);
    const lanecast_array all = flat(src.data(), LANECAST_INT32, n), low = flat(narrow.data(), LANECAST_INT16, n);
    wrong += lanecast_run_masked(&cut, &all, &low, LANECAST_LEVEL_RANGE, mask.data(), &rejected, threads,
                                 &error) != LANECAST_OK;
    wrong += rejected != n - fit;
    wrong += lanecast_run_counted(&cut, &all, &low, LANECAST_LEVEL_EXACT, &losses, threads, &error) !=
             LANECAST_OK;
    wrong += losses.elements != n || losses.wrapped != n - fit;
    wrong += lanecast_run_checked(&cut, &all, &low, LANECAST_LEVEL_RANGE, threads, &error) !=
             LANECAST_ERR_REJECTED;
    wrong += error.index != fit;
    std::int64_t shape[2] = {1500, 1000}, transposed[2] = {4, 6000};
    const lanecast_array from = shaped(src.data(), LANECAST_INT32, 2, shape, transposed);
    const lanecast_array to = shaped(wide.data(), LANECAST_FLOAT64, 2, shape, nullptr);
    wrong += lanecast_run_array(&widen, &from, &to, threads, &error) != LANECAST_OK;
    for (std::size_t i = 0; i < n; i++) {
        wrong += wide[i] != static_cast<double>(src[i % 1000 * 1500 + i / 1000]);
    }
    std::vector<lanecast_item> items;
    for (std::size_t i = 0; i < 100; i++) {
        items.push_back({&widen, src.data() + i * 15000, wide.data() + i * 15000, 15000});
    }
    wrong += lanecast_run_batch(items.data(), items.size(), threads, &error) != LANECAST_OK;
    for (std::size_t i = 0; i < n; i++) {
        wrong += wide[i] != static_cast<double>(src[i]);
    }
    return wrong;
}

} // namespace

int main()
{
    Pool pool(3);
    const lanecast_threads host = {4, loop, &pool};
    CHECK(casts(&host, 5) == 0);
    CHECK(pool.called() >= 5);
    // Several callers share the pool and write a result of their own each.
    std::size_t wrong[3] = {1, 1, 1};
    std::vector<std::thread> callers;
    for (std::int32_t i = 0; i < 3; i++) {
        callers.emplace_back([&host, &wrong, i] { wrong[i] = casts(&host, i); });
    }
    for (std::thread &caller : callers) {
        caller.join();
    }
    CHECK(wrong[0] == 0 && wrong[1] == 0 && wrong[2] == 0);
#ifdef RACE
    // The control: a race that the sanitizer has to report, in a task of the pool. The task comes second, as the sanitizer may miss two
    // accesses at the same moment; what it waits for is relaxed, and so orders nothing.
    static std::size_t raced = 0;
    static std::atomic<bool> first(false);
    const lanecast_task second = [](void *, std::size_t) {
        while (!first.load(std::memory_order_relaxed)) {
            std::this_thread::yield();
        }
        raced++;
    };
    std::thread racing([&pool, second] { pool.loop(1, second, nullptr); });
    raced++;
    first.store(true, std::memory_order_relaxed);
    racing.join();
    std::printf("%zu\n", raced);
#endif
    return report();
}
