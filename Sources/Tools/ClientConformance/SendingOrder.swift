internal import SightlineProtos

/// The order in which events came, and which of them a stream has to send before others: those that
/// streams before it left without an answer.
struct SendingOrder {
    private var order: [String] = []
    private var isUnanswered: Set<String> = []
    /// They may come at any place.
    private var isLater: Set<String> = []
    private var streamOf: [String: Int] = [:]
    private var ended: Set<Int> = []
    private var owed: [Int: [String]] = [:]

    mutating func open(_ stream: Int) {
        self.owed[stream] = self.order.filter { id in
            self.isUnanswered.contains(id)
                && self.streamOf[id].map(self.ended.contains) == true
        }
    }

    mutating func end(_ stream: Int) { self.ended.insert(stream) }

    mutating func settle(_ told: Answer.Told) {
        self.isUnanswered.remove(told.id)
        if told.verdict == .retryLater || told.mayComeAgain { self.isLater.insert(told.id) }
    }

    /// Takes an event in.
    ///
    /// - Returns: the event that should have come before it; nil if it is in order.
    mutating func receive(_ id: String, on stream: Int) -> String? {
        defer {
            self.streamOf[id] = stream
            self.isUnanswered.insert(id)
        }
        let owed = self.owed[stream] ?? []
        if let place = owed.firstIndex(of: id) {
            self.owed[stream]?.remove(at: place)
            return place > 0 ? owed[0] : nil
        }
        if self.isLater.remove(id) != nil {
            self.order.removeAll { $0 == id }
            self.order.append(id)
            return nil
        }
        guard self.streamOf[id] == nil else { return nil }
        self.order.append(id)
        // Told once: what is missing, the verdicts tell.
        self.owed[stream] = []
        return owed.first
    }
}
