// What every Prometheus client tells of its process, by the names that dashboards know:
// https://prometheus.io/docs/instrumenting/writing_clientlibs/#process-metrics
internal import CoreMetrics
internal import Foundation

/// The process's figures, read from Linux's /proc as they are asked for.
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

    /// What `install` sets.
    package static let descriptions = [
        Self.cpu, Self.residentMemory, Self.virtualMemory, Self.openFiles, Self.maxFiles,
        Self.startTime,
    ]

    /// Has a registry, to which the descriptions were declared, tell of this process.
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

    /// The first two numbers of statm (proc(5)).
    private static func memoryPages() -> (total: Int, resident: Int) {
        let numbers = Self.text("/proc/self/statm").split(separator: " ").prefix(2).compactMap {
            Int($0)
        }
        return numbers.count == 2 ? (numbers[0], numbers[1]) : (0, 0)
    }

    private static func openFileCount() -> Int {
        // Where /proc is missing there is nothing to count.
        let names = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
        // One of them is the directory itself while it is read.
        return max(0, (names?.count ?? 1) - 1)
    }

    private static func fileLimit() -> Double {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        // RLIM_INFINITY, in a header form that Swift cannot read.
        return limit.rlim_cur == .max ? .infinity : Double(limit.rlim_cur)
    }

    /// Field 22 of stat, in ticks since the machine's start (proc(5)).
    private static func startedTime() -> Double {
        // The name, in parentheses, may hold spaces: fields are counted after it.
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
        // Where /proc is missing there is nothing to tell.
        (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
    }
}
