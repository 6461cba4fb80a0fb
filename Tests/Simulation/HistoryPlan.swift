internal import TrackingJournal

/// The parameters of a history.
struct HistoryPlan {
    let clients: Int
    let messages: Int
    /// The number of processes that are killed before the last one.
    let processes: Int
    let mode: Journal.Mode
    let configuration: Journal.Configuration
    let faults: DiskFaults
    /// The probability that a process is killed within its first calls.
    let earlyEnd: Double
    /// The probability that a sink becomes available at a change.
    let sinkUp: Double
    /// The probability that the disk damages data between two processes.
    let mediaFaults: Double
    /// One to three; the first is required.
    let sinks: [SinkPlan]
    let runsOutOfRoom: Bool
    let runsOutOfDescriptors: Bool
    /// Whether hits are delivered again, and what sinks refuse is mended.
    let isReplayed: Bool
    /// Whether sinks come and go while a process runs.
    let hasSinksThatGo: Bool

    init(dice: Dice) {
        self.clients = dice.number(1...3)
        self.messages = dice.pick([4, 20, 200])
        self.processes = dice.number(1...5)
        self.mode = dice.chance(0.1) ? .off : .disk
        var faults = DiskFaults()
        if dice.chance(0.3) { faults.interruption = 0.05 }
        if dice.chance(0.3) { faults.shortening = 0.1 }
        if dice.chance(0.2) { faults.failure = 0.02 }
        self.faults = faults
        self.earlyEnd = dice.pick([0, 0.3, 0.8])
        self.sinkUp = dice.pick([0.1, 0.5, 0.9])
        self.mediaFaults = dice.pick([0, 0, 0, 0.5])
        self.runsOutOfRoom = dice.chance(0.3)
        self.runsOutOfDescriptors = dice.chance(0.2)
        var configuration = Journal.Configuration()
        configuration.mode = self.mode
        configuration.windowCapacity = 4096
        configuration.segmentBytes = dice.pick([1, 600, 2000, 8000])
        configuration.preparedSegments = dice.number(0...2)
        configuration.maxGroupBytes = dice.pick([1, 500, 384 << 10])
        configuration.maxCachedBytes = self.mode == .off ? 100_000 : dice.pick([0, 1000, 100_000])
        // Room for each request, and soon full: one that never fits is refused for ever.
        configuration.maxBytes = dice.pick([4000, 1 << 30])
        configuration.checkpointMilliseconds = dice.pick([0, 1, 50, 1000])
        configuration.retainSeconds = dice.pick([0, 0, 1])
        self.configuration = configuration
        let mode = self.mode
        let isReplayed = mode == .disk && dice.chance(0.4)
        self.isReplayed = isReplayed
        self.sinks = (1...dice.pick([1, 2, 3])).map {
            SinkPlan(number: $0, mode: mode, isReplayed: isReplayed, dice: dice)
        }
        self.hasSinksThatGo = self.sinks.count > 1 && dice.chance(0.5)
    }
}
