// How many PINGs a peer may send: a basic allowance, and some for what the server has sent itself.
// grpc-go sends one with each answer that it reads while none is under way (its estimate of the
// bandwidth, on by default), so a fixed limit would end a busy stream.
internal import NIOCore

/// A count of PINGs in windows of 30 s. What was not used is not carried over, so that nobody saves
/// up for a flood.
struct PingBudget {
    static let window = TimeAmount.seconds(30)

    /// PINGs in a window that need no reason.
    let allowance: Int
    /// PINGs for each DATA or HEADERS frame that the server has sent in the window.
    let perAnswer: Int
    private var windowEnd: NIODeadline?
    private var answersBefore = 0
    private var pings = 0

    init(allowance: Int, perAnswer: Int) {
        self.allowance = allowance
        self.perAnswer = perAnswer
    }

    /// Counts a PING; false where it is one too many. `answers` is the count of DATA and HEADERS
    /// frames that the server has sent so far.
    mutating func takes(at now: NIODeadline, answers: Int) -> Bool {
        if let windowEnd, now < windowEnd {
            self.pings &+= 1
        } else {
            self.windowEnd = now + Self.window
            self.answersBefore = answers
            self.pings = 1
        }
        // A product that is too large for an Int is larger than any count of PINGs.
        let earned = (answers &- self.answersBefore).multipliedReportingOverflow(by: self.perAnswer)
        return earned.overflow || self.pings &- self.allowance <= earned.partialValue
    }
}
