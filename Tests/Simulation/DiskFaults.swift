// What goes wrong with a disk while a process runs.
internal import Glibc

/// Faults and how often they come.
struct DiskFaults {
    /// A call is interrupted before it did anything.
    var interruption = 0.0
    /// A read or write does less than it was asked for.
    var shortening = 0.0
    /// A write or sync fails.
    var failure = 0.0
    /// No further descriptor is to be had.
    var isOutOfDescriptors = false
    /// Files do not get longer beyond so many bytes in all.
    var capacity = Int.max
    /// Faults so far.
    private(set) var count = 0

    /// The code that a call fails with; nil where it does not.
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

    /// How many of some bytes a call handles.
    mutating func handled(_ count: Int, _ dice: Dice) -> Int {
        guard count > 1, dice.chance(self.shortening) else { return count }
        self.count += 1
        return dice.number(1...count - 1)
    }

    /// Notes a fault that a history makes by itself.
    mutating func note() { self.count += 1 }
}
