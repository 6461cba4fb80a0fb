package import WireFormat

/// The subjects of a request's events, in the order of their first occurrence. Most requests have
/// one, the same as the stream's previous request; such a request allocates nothing.
package struct LedgerSubjects: Sendable {
    /// The number of subjects.
    package private(set) var count = 0
    /// The last subject that was added; nil if only the likely one occurred. That one is shared
    /// with the stream's other requests, and each copy makes threads contend for it.
    package private(set) var newest: LedgerSubject?
    /// The first subject; before the first event, the one that it probably has.
    private var first: LedgerSubject?
    private var others: [LedgerSubject] = []

    /// How many of the last subjects an event is compared with, besides the first. A batch with
    /// more subjects gets repeated rows, which are joined later.
    private static let compared = 8

    init(likely: LedgerSubject?) { self.first = likely }

    /// Calls `body` with the encoded subject that has this index, which must be less than `count`.
    package func withBytes<Value>(at index: Int, _ body: (Bytes) -> Value) -> Value {
        if index == 0, let first { return first.bytes.withUnsafeBytes(body) }
        return self.others[index &- 1].bytes.withUnsafeBytes(body)
    }

    /// The index of the subject of these values; adds it if it is new.
    mutating func index(
        platform: Platform?, product: Product, app: Bytes, delivery: Bytes,
        version: Bytes = .none, mark: SendMark = .none
    ) -> UInt32 {
        func matches(_ subject: LedgerSubject) -> Bool {
            subject.matches(
                platform: platform, product: product, app: app, delivery: delivery,
                version: version, mark: mark)
        }
        if let first, matches(first) {
            self.count = max(self.count, 1)
            return 0
        }
        if let place = self.others.suffix(Self.compared).lastIndex(where: matches) {
            return UInt32(truncatingIfNeeded: place &+ 1)
        }
        let subject = LedgerSubject(
            platform: platform, product: product, app: app, delivery: delivery,
            version: version, mark: mark)
        if self.count == 0 { self.first = subject } else { self.others.append(subject) }
        self.newest = subject
        self.count &+= 1
        return UInt32(truncatingIfNeeded: self.count &- 1)
    }
}
