internal import NIOCore

/// Limits a peer's PINGs in windows of 30 s: a fixed allowance, and more for each frame that the
/// server sent. grpc-go sends a PING with the answers that it reads (its bandwidth estimate, on by
/// default), so a fixed limit would end busy streams. Unused PINGs are not carried over; otherwise
/// a peer could save them up for a flood.
struct PingBudget {
    static let window = TimeAmount.seconds(30)

    /// The PINGs per window that are always allowed.
    let allowance: Int
    /// Further PINGs for each DATA or HEADERS frame that the server sent in the window.
    let perAnswer: Int
    private var windowEnd: NIODeadline?
    private var answersBefore = 0
    private var pings = 0

    init(allowance: Int, perAnswer: Int) {
        self.allowance = allowance
        self.perAnswer = perAnswer
    }

    /// Counts a PING; false if it exceeds the limit. `answers` is the total number of DATA and
    /// HEADERS frames sent so far.
    mutating func takes(at now: NIODeadline, answers: Int) -> Bool {
        if let windowEnd, now < windowEnd {
            self.pings &+= 1
        } else {
            self.windowEnd = now + Self.window
            self.answersBefore = answers
            self.pings = 1
        }
        // On overflow, the product exceeds any count of PINGs.
        let earned = (answers &- self.answersBefore).multipliedReportingOverflow(by: self.perAnswer)
        return earned.overflow || self.pings &- self.allowance <= earned.partialValue
    }
}
