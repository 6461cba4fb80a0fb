// What a server's answer means for a hit (D38).
internal import Foundation

/// What a request came to.
enum PostbackAnswer: Equatable, Sendable {
    /// The server counted the hit.
    case counted
    /// The server will never take the hit.
    case refused(String)
    /// The request is worth another try, after the time that the server asked for, if it did.
    case unavailable(String, retryAfter: Duration? = nil)

    /// The meaning of a status.
    ///
    /// - Parameters:
    ///   - retryAfter: the value of the header Retry-After, if there is one.
    ///   - now: what a date in it is compared to.
    init(status: UInt, retryAfter: String?, now: Date) {
        switch status {
        case 200: self = .counted
        case 408, 429, 500...599:
            self = .unavailable(
                "status \(status)",
                retryAfter: retryAfter.flatMap { Self.wait($0, now: now) })
        case 300...399:
            self = .refused(
                "Campaign's server answers with status \(status): redirects are not followed, so "
                    + "name the server that it leads to in campaign.servers")
        default: self = .refused("Campaign's server answers with status \(status)")
        }
    }

    /// The wait in a Retry-After: seconds, or until a date of RFC 9110's preferred form. Nil if it
    /// is neither.
    static func wait(_ text: String, now: Date) -> Duration? {
        if let seconds = Int64(text) {
            return .seconds(min(max(0, seconds), Int64(Int32.max)))
        }
        guard let date = Self.date(text) else { return nil }
        return .seconds(max(0, min(date.timeIntervalSince(now), Double(Int32.max))))
    }

    /// A date such as `Sun, 06 Nov 1994 08:49:37 GMT`.
    private static func date(_ text: String) -> Date? {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = .gmt
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return formatter.date(from: text)
    }
}
