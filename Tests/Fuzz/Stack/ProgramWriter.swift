// Generates programs from a seed, and single operations for libFuzzer's mutations.

/// A seeded maker of programs (splitmix64).
struct ProgramWriter {
    private var state: UInt64

    init(seed: UInt64) { self.state = seed }

    /// A program of a few operations, mostly calls and messages.
    mutating func program() -> [UInt8] {
        var bytes = [UInt8(self.below(256))]
        for _ in 0...self.below(12) { bytes += self.operation() }
        return bytes
    }

    /// An operation with its operands.
    mutating func operation() -> [UInt8] {
        typealias Operation = FrameProgram.Operation
        let common: [Operation] = [.call, .call, .call, .message, .message, .data]
        let all = Operation.allCases
        let operation =
            self.below(2) == 0 ? common[self.below(common.count)] : all[self.below(all.count)]
        var bytes = [operation.rawValue]
        if operation == .call {
            bytes += [UInt8(self.below(256)), UInt8(self.below(4))]
            for _ in 0..<3 { bytes += [UInt8(self.below(256)), UInt8(self.below(192))] }
        } else {
            for _ in 0..<self.below(10) { bytes.append(UInt8(self.below(256))) }
        }
        return bytes
    }

    mutating func below(_ bound: Int) -> Int {
        self.state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = (self.state ^ self.state >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return Int((mixed ^ mixed >> 31) % UInt64(max(bound, 1)))
    }
}
