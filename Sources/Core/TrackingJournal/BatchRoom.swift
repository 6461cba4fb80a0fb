internal import TrackingRules

/// The part of a limit that is left while groups are joined.
struct BatchRoom {
    /// Negative after a group that exceeds the limit.
    private(set) var left: BatchLimit
    private var isEmpty = true

    init(_ limit: BatchLimit) { self.left = limit }

    /// Takes the room of the next group; false if it does not fit, as the first one always does.
    mutating func take(hits: Int, bytes: Int) -> Bool {
        guard self.isEmpty || (hits <= self.left.hits && bytes <= self.left.bytes) else {
            return false
        }
        self.isEmpty = false
        self.left.hits -= hits
        self.left.bytes -= bytes
        return true
    }
}
