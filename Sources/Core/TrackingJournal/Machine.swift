internal import Foundation
package import Storage

/// What the journal uses of its machine: files, queues, clocks and randomness. The simulation
/// substitutes its own.
package struct Machine: Sendable {
    /// The file system with the log.
    package var files: any FileSystem
    /// Creates a serial queue with a label.
    package var makeQueue: @Sendable (String) -> any WorkQueue
    /// The wall clock, in microseconds since 1970. It may jump.
    package var wallTime: @Sendable () -> Int64
    /// The monotonic clock.
    package var now: @Sendable () -> ContinuousClock.Instant
    /// An unpredictable random number.
    package var random: @Sendable () -> UInt64

    /// The machine of this process.
    package static let local = Machine(
        files: LocalFileSystem(), makeQueue: { DispatchWorkQueue($0) },
        wallTime: { Int64(Date().timeIntervalSince1970 * 1_000_000) }, now: { .now },
        random: { .random(in: .min ... .max) })

    /// Creates a machine from its parts.
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

/// Draws random numbers from a machine.
package struct MachineGenerator: RandomNumberGenerator {
    let machine: Machine
    /// The next random number.
    package mutating func next() -> UInt64 { self.machine.random() }
}
