internal import Credentials
internal import Logging
internal import ServerConfiguration
internal import Telemetry
internal import TrackingJournal

/// The log records of a server's life, with the figures that an operator looks for first.
struct LifeLog: Sendable {
    let logger: Logger
    let build: Build
    let configuration: ServerConfiguration
    /// When the start began.
    private let start = ContinuousClock.now

    init(_ configuration: ServerConfiguration, build: Build, logger: Logger) {
        self.logger = logger
        self.build = build
        self.configuration = configuration
    }

    /// Logs what the journal found, and whether it has room. A torn record was never acknowledged;
    /// a lost one was.
    func recovered(_ recovery: JournalRecovery) {
        self.logger.log(
            level: recovery.losses > 0 ? .error : .info, "the journal is open",
            metadata: [
                "mode": "\(self.configuration.journal.mode.rawValue)",
                "segments": .number(recovery.segments), "groups": .number(recovery.groups),
                "bytes": .number(recovery.bytes), "window_keys": .number(recovery.windowKeys),
                "torn_records": .number(recovery.tornRecords),
                "losses": .number(recovery.losses),
                "milliseconds": .milliseconds(recovery.duration),
            ])
        self.checkDisk()
    }

    /// Warns if the data directory may grow to more than its disk has: the journal then refuses
    /// events before its limit.
    private func checkDisk() {
        let budget = DiskBudget(self.configuration)
        guard let room = DiskUsage.room(in: self.configuration.dataDirectory),
            !budget.fits(into: room)
        else { return }
        let limits = budget.limits.map { "\($0.name): \($0.bytes)" }.joined(separator: ", ")
        self.logger.warning(
            "the limits exceed the disk: lower them, or make room",
            metadata: [
                "bytes": .number(budget.bytes), "room_bytes": .number(room),
                "limits": "\(limits)", "data_dir": "\(self.configuration.dataDirectory)",
            ])
    }

    /// Logs that the server takes events, and how it is set up.
    func started(address: String) {
        let auth = self.configuration.auth.modes.map(\.rawValue).sorted()
        self.logger.info(
            "started",
            metadata: [
                "address": "\(address)", "version": "\(self.build.version)",
                "commit": "\(self.build.commit)",
                "traits": .array(self.build.traits.map { .string($0) }),
                "sinks": .array(self.configuration.sinks.map { .string($0.name) }),
                "tls": "\(self.configuration.tls.mode.rawValue)",
                "auth": .array(auth.map { .string($0) }),
                "data_dir": "\(self.configuration.dataDirectory)",
                "milliseconds": .milliseconds(self.start.duration(to: .now)),
            ])
    }

    /// Logs that everything is closed.
    ///
    /// - Parameters:
    ///   - drain: how long it took from the signal.
    ///   - isCut: whether a second signal or the deadline ended it.
    ///   - left: the groups that a sink has not confirmed; they stay in the journal.
    func stopped(drain: Duration?, isCut: Bool, left: Int) {
        var metadata: Logger.Metadata = [
            "uptime_seconds": .seconds(self.start.duration(to: .now)), "left_groups": .number(left),
        ]
        if let drain { metadata["drain_milliseconds"] = .milliseconds(drain) }
        if isCut { metadata["cut"] = .stringConvertible(true) }
        self.logger.log(level: isCut ? .warning : .info, "stopped", metadata: metadata)
    }
}
