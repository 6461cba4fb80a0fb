// Faults of a disk while a process runs.
internal import Glibc

/// The probabilities of faults.
struct DiskFaults {
    /// A call is interrupted before it does anything.
    var interruption = 0.0
    /// A read or write is short.
    var shortening = 0.0
    /// A write or sync fails.
    var failure = 0.0
    /// No further descriptor is available.
    var isOutOfDescriptors = false
    /// The total size at which files can no longer grow.
    var capacity = Int.max
    /// The number of faults so far.
    private(set) var count = 0

    /// The `errno` that a call fails with; nil if it succeeds.
    mutating func code(of call: String, _ path: String, _ dice: Dice) -> CInt? {
        let code = self.chosenCode(of: call, dice)
        if code != nil { self.count += 1 }
        return code
    }

    private func chosenCode(of call: String, _ dice: Dice) -> CInt? {
        switch call {
        case "open": return self.isOutOfDescriptors ? EMFILE : nil
        case "pread": return dice.chance(self.interruption) ? EINTR : nil
        case "pwritev":
            if dice.chance(self.interruption) { return EINTR }
            return dice.chance(self.failure) ? EIO : nil
        case "fdatasync": return dice.chance(self.failure) ? EIO : nil
        default: return nil
        }
    }

    /// How many of `count` bytes a call processes.
    mutating func handled(_ count: Int, _ dice: Dice) -> Int {
        guard count > 1, dice.chance(self.shortening) else { return count }
        self.count += 1
        return dice.number(1...count - 1)
    }

    /// Counts a fault that the history itself causes.
    mutating func note() { self.count += 1 }
}
