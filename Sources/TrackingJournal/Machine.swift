// What a journal has of the machine that it runs on, as one value: a simulation gives its own.
internal import Foundation

/// Files, queues, time and chance.
package struct Machine: Sendable {
    /// Where the log is.
    package var files: any FileSystem
    /// Makes a serial queue of a name.
    package var makeQueue: @Sendable (String) -> any WorkQueue
    /// The time of day, in microseconds since 1970. It may jump.
    package var wallTime: @Sendable () -> Int64
    /// The time that only goes on.
    package var now: @Sendable () -> ContinuousClock.Instant
    /// A random number, which nobody can guess.
    package var random: @Sendable () -> UInt64

    /// The machine that this process runs on.
    package static let local = Machine(
        files: LocalFileSystem(), makeQueue: { DispatchWorkQueue($0) },
        wallTime: { Int64(Date().timeIntervalSince1970 * 1_000_000) }, now: { .now },
        random: { .random(in: .min ... .max) })

    /// A machine of these parts.
    package init(
        files: any FileSystem, makeQueue: @escaping @Sendable (String) -> any WorkQueue,
        wallTime: @escaping @Sendable () -> Int64,
        now: @escaping @Sendable () -> ContinuousClock.Instant,
        random: @escaping @Sendable () -> UInt64
    ) {
        self.files = files
        self.makeQueue = makeQueue
        self.wallTime = wallTime
        self.now = now
        self.random = random
    }
}

/// Random numbers of a machine.
package struct MachineGenerator: RandomNumberGenerator {
    let machine: Machine
    /// The next number.
    package mutating func next() -> UInt64 { self.machine.random() }
}
