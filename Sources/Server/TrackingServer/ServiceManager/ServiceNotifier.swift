internal import Foundation
internal import ServiceLifecycle

/// Reports to a service manager such as systemd when the server is ready, reloads and stops, and
/// that its journal still works: `Type=notify-reload` and `WatchdogSec=`.
package struct ServiceNotifier: Service {
    private let socket: NotifySocket
    /// The time between two signs of life; nil if the manager wants none.
    private let interval: Duration?
    private let probe: @Sendable () async -> Void

    /// Nil without a manager.
    ///
    /// - Parameter probe: returns while the server works; a sign of life follows each return.
    package init?(environment: [String: String], probe: @escaping @Sendable () async -> Void) {
        guard let socket = NotifySocket(environment: environment) else { return nil }
        self.socket = socket
        self.probe = probe
        let isOurs = environment["WATCHDOG_PID"].map { $0 == "\(getpid())" } ?? true
        // Three in the manager's time: one may be late.
        self.interval = environment["WATCHDOG_USEC"].flatMap(Int64.init)
            .flatMap { $0 > 0 && isOurs ? .microseconds($0 / 3) : nil }
    }

    /// Gives signs of life until shutdown.
    package func run() async throws {
        guard let interval else {
            try? await gracefulShutdown()  // Or cancelled.
            return
        }
        try? await cancelWhenGracefulShutdown {
            while true {
                await self.probe()
                self.socket.send("WATCHDOG=1")
                try await Task.sleep(for: interval)
            }
        }
    }

    /// The server takes events, or has read its configuration again.
    package func ready(_ status: String) { self.socket.send("READY=1", "STATUS=\(status)") }

    /// The drain begins.
    package func stopping() { self.socket.send("STOPPING=1", "STATUS=draining") }

    /// A reload that the manager waits for ends with `ready`.
    package func reloading() {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        let microseconds = Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
        self.socket.send("RELOADING=1", "MONOTONIC_USEC=\(microseconds)")
    }
}
