package import SightlineClient
internal import TrackingReport
internal import WireFormat

/// Why a command's calls failed as a whole; a problem with an event is its verdict.
package enum TrackingClientError: Error, Sendable, Equatable, CustomStringConvertible {
    /// No event was settled for `seconds`; `unsettled` events have no final verdict.
    case gaveUp(
        target: String, unsettled: Int, seconds: Double, lastFailure: String?, fix: String?)
    /// The server permanently refuses the call.
    case refused(target: String, code: String, reason: String, unsettled: Int)
    /// A call got no answer, or its connection broke.
    case unreachable(target: String, reason: String, fix: String)

    /// What to do when nothing tells more.
    private static let absence = "See that the server runs and that the target is right"

    /// Why a call failed, with the number of events that are `unsettled`.
    package init(_ failure: StreamFailure, target: String, unsettled: Int = 0) {
        self =
            failure.isRetryable
            ? .unreachable(
                target: target, reason: "\(failure.code): \(failure.reason)",
                fix: ConnectionFix(failure)?.description
                    ?? Self.absence)
            : .refused(
                target: target, code: failure.code, reason: failure.reason, unsettled: unsettled)
    }

    /// What, where, the value seen, and the fix.
    package var description: String {
        switch self {
        case .gaveUp(let target, let unsettled, let seconds, let lastFailure, let fix):
            let reason = lastFailure.map { "; the last failure was: \($0.printable)" } ?? ""
            return "\(unsettled) events have no verdict: \(target) settled none for "
                + "\(seconds.formattedSeconds) s\(reason). \(fix ?? Self.absence). Then send "
                + "again: what it knows already comes back as DUPLICATE"
        case .refused(let target, let code, let reason, let unsettled):
            let rest = unsettled == 0 ? "" : "; \(unsettled) events have no verdict"
            return "\(target) refused the call with \(code): \(reason.printable)\(rest)"
        case .unreachable(let target, let reason, let fix):
            return "no answer from \(target): \(reason.printable). \(fix)"
        }
    }
}

extension Double {
    /// Seconds without needless decimals: `60`, `0.5`.
    fileprivate var formattedSeconds: String {
        guard self.rounded() == self, let whole = Int(exactly: self) else { return "\(self)" }
        return "\(whole)"
    }
}
