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

    init(_ action: String, _ status: natsStatus, _ code: jsErrCode = jsErrCode(0)) {
        let text = String(cString: natsStatus_GetText(status))
        let detail = code.rawValue == 0 ? "" : ", JetStream error \(code.rawValue)"
        self.description = "\(action): \(text)\(detail)"
        self.status = status
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
