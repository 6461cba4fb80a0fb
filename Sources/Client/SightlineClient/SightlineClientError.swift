internal import WireFormat

/// Why a client cannot be created or used, or has ended. A problem with an event is its verdict
/// instead.
public enum SightlineClientError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The address is not HOST:PORT.
    case badAddress(String)
    /// A value of the configuration is outside its range.
    case badConfiguration(key: String, value: String, rule: String)
    /// The TLS files are unusable.
    case badSecurity(reason: String)
    /// The file of an API key or token is unusable.
    case badCredential(path: String, reason: String)
    /// The client holds the maximum number of events or bytes: the event was not taken.
    case full
    /// The event exceeds the largest request: it was not taken.
    case tooLarge(byteCount: Int)
    /// `run` was called a second time.
    case ran
    /// The client was closed, or its `run` was cancelled. `unacknowledged` has the events without a
    /// verdict.
    case closed
    /// The time was over before every event had its verdict. `unacknowledged` has those without.
    case timedOut(FlushReport)
    /// The server permanently refuses this client. `unacknowledged` has the events without a
    /// verdict.
    case refused(target: String, code: String, reason: String)

    /// What, where, the value seen, and the fix.
    public var description: String {
        switch self {
        case .badAddress(let value):
            return "the target \"\(UserInfo.hidden(in: value))\" is no HOST:PORT with a port from "
                + "1 to 65535; write for example 127.0.0.1:50051 or [::1]:50051"
        case .badConfiguration(let key, let value, let rule):
            return "\(key) is \(value), and has to be \(rule)"
        case .badSecurity(let reason):
            return "the files for TLS cannot be used: \(reason). See that they are PEM, and that "
                + "the key belongs to the certificate"
        case .badCredential(let path, let reason):
            return "the credential in \(path) \(reason)"
        case .full:
            return "the client holds as many events as it may: send it later, or drop it"
        case .tooLarge(let byteCount):
            return "the event takes \(byteCount) bytes, and a request holds at most "
                + "\(RequestLimits.largestRequestByteCount) with "
                + "\(RequestLimits.requestOverheadByteCount) of its own; make it smaller"
        case .ran:
            return "run was called before: make a client for each run"
        case .closed:
            return "the client is closed; unacknowledged has the events without a verdict"
        case .timedOut(let report):
            return "\(report.pendingCount) events have no verdict yet, "
                + "\(report.acknowledgedCount) have theirs"
                + ClientStatistics.words(lastFailure: report.lastFailure)
        case .refused(let target, let code, let reason):
            return "\(target) refused the call with \(code): \(reason)"
        }
    }
}
