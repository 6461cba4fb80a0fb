// The standard process metrics of Prometheus clients:
// https://prometheus.io/docs/instrumenting/writing_clientlibs/#process-metrics
internal import CoreMetrics
internal import Foundation

/// Reports the process's metrics, read from Linux's /proc at each scrape.
package struct ProcessMetrics: Sendable {
    private static let cpu = MetricDescription.counter(
        "process_cpu_seconds_total", "Seconds of user and system CPU time")
    private static let residentMemory = MetricDescription.gauge(
        "process_resident_memory_bytes", "Bytes of memory that are resident")
    private static let virtualMemory = MetricDescription.gauge(
        "process_virtual_memory_bytes", "Bytes of virtual memory")
    private static let openFiles = MetricDescription.gauge(
        "process_open_fds", "File descriptors that are open")
    private static let maxFiles = MetricDescription.gauge(
        "process_max_fds", "File descriptors that may be open")
    private static let startTime = MetricDescription.gauge(
        "process_start_time_seconds", "When the process started, since 1970")

    /// The descriptions. Declare them in the registry that is passed to `install`.
    package static let descriptions = [
        Self.cpu, Self.residentMemory, Self.virtualMemory, Self.openFiles, Self.maxFiles,
        Self.startTime,
    ]

    /// Reports this process in a registry with these `descriptions`.
    package static func install(in registry: MetricsRegistry) {
        let (cpu, resident) = (registry.meter(Self.cpu), registry.meter(Self.residentMemory))
        let (virtual, open) = (registry.meter(Self.virtualMemory), registry.meter(Self.openFiles))
        let (maximum, start) = (registry.meter(Self.maxFiles), registry.meter(Self.startTime))
        let started = Self.startedTime()
        registry.onCollect {
            cpu.set(Self.cpuSeconds())
            let pages = Self.memoryPages()
            let pageBytes = sysconf(CInt(_SC_PAGESIZE))
            virtual.set(pages.total * pageBytes)
            resident.set(pages.resident * pageBytes)
            open.set(Self.openFileCount())
            maximum.set(Self.fileLimit())
            start.set(started)
        }
    }

    private static func cpuSeconds() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// The first two fields of statm (proc(5)).
    private static func memoryPages() -> (total: Int, resident: Int) {
        let numbers = Self.text("/proc/self/statm").split(separator: " ").prefix(2).compactMap {
            Int($0)
        }
        return numbers.count == 2 ? (numbers[0], numbers[1]) : (0, 0)
    }

    private static func openFileCount() -> Int {
        // Without /proc, the metric is 0.
        let names = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
        // One descriptor belongs to this listing.
        return max(0, (names?.count ?? 1) - 1)
    }

    private static func fileLimit() -> Double {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        // RLIM_INFINITY, a macro that Swift cannot import.
        return limit.rlim_cur == .max ? .infinity : Double(limit.rlim_cur)
    }

    /// Field 22 of stat, in clock ticks since boot (proc(5)).
    private static func startedTime() -> Double {
        // Skip the process name in parentheses, which may contain spaces.
        let fields = Self.text("/proc/self/stat").split(separator: ")").last?
            .split(separator: " ")
        guard let fields, fields.count > 19, let ticks = Double(fields[19]),
            let boot = Self.text("/proc/stat").split(separator: "\n")
                .first(where: { $0.hasPrefix("btime ") })?.split(separator: " ").last,
            let booted = Double(boot)
        else { return 0 }
        return booted + ticks / Double(sysconf(CInt(_SC_CLK_TCK)))
    }

    private static func text(_ path: String) -> String {
        // Without /proc, the metrics are 0.
        (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
    }
}
