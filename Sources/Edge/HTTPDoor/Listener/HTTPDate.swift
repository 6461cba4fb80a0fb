// tm is CoreFoundation's or Glibc's, depending on which module the compiler loads first.
internal import CoreFoundation
internal import Glibc

/// The time of an answer (RFC 9110, section 6.6.1), as in `Sun, 06 Nov 1994 08:49:37 GMT`.
enum HTTPDate {
    /// The text of a time in seconds since 1970.
    static func text(_ seconds: Int = time(nil)) -> String {
        var (seconds, parts) = (seconds, tm())
        gmtime_r(&seconds, &parts)
        // The process never sets a locale: the names are English.
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 32) { buffer in
            guard let start = buffer.baseAddress else { return "" }
            let count = strftime(start, buffer.count, "%a, %d %b %Y %H:%M:%S GMT", &parts)
            let text = UnsafeRawBufferPointer(start: start, count: count)
            return String(decoding: text, as: UTF8.self)
        }
    }
}
