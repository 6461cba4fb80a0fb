#if NATS
// What the C library says went wrong.
internal import CNats

/// A call that failed. Every one of them is worth another try, unless it says otherwise.
struct NATSError: Error, CustomStringConvertible {
    let description: String
    /// What the library's call returned; nil if it was none.
    let status: natsStatus?

    init(_ description: String) {
        self.description = description
        self.status = nil
    }

    /// - Parameter quotes: whether it has what the server said.
    init(
        _ action: String, _ status: natsStatus, _ code: jsErrCode = jsErrCode(0),
        quotes: Bool = true
    ) {
        let text = String(cString: natsStatus_GetText(status))
        let detail = code.rawValue == 0 ? "" : ", JetStream error \(code.rawValue)"
        let words = detail.isEmpty || !quotes ? nil : Self.lastWords(status)
        self.description = "\(action): \(text)\(detail)\(words.map { ", \($0)" } ?? "")"
        self.status = status
    }

    /// What the server said to the call that has just failed on this thread; nil if the library has
    /// kept nothing of it.
    private static func lastWords(_ status: natsStatus) -> String? {
        var known = NATS_OK
        guard let words = nats_GetLastError(&known), known == status else { return nil }
        var text = Substring(String(cString: words))
        // The library puts a place in its own sources before them, as in "(jsm.c:1033): ".
        if text.hasPrefix("("), let place = text.firstRange(of: "): ") {
            text = text[place.upperBound...]
        }
        return text.isEmpty ? nil : String(text)
    }

    /// Throws if a call failed.
    static func check(_ action: String, _ status: natsStatus) throws(NATSError) {
        guard status == NATS_OK else { throw NATSError(action, status) }
    }
}

extension jsErrCode {
    /// Whether the server will always refuse this message, because it is too large.
    var isForGood: Bool {
        self == JSStreamMessageExceedsMaximumErr || self == Self.headersExceedMaximum
    }

    /// The library does not name this code yet.
    private static let headersExceedMaximum = jsErrCode(10097)
}
#endif
