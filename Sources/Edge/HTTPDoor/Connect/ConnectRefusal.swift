internal import GRPCCore
internal import GRPCProtobuf
internal import WireFormat

/// Why the door refuses a call before a service has it. Its words, code and details are those of
/// docs/errors.md, so a client has one kind of error whichever way it came.
struct ConnectRefusal: Error, Equatable {
    /// The reasons of docs/errors.md that the door gives itself; a test holds them to that page.
    enum Reason: String, CaseIterable {
        case requestMalformed = "REQUEST_MALFORMED"
        case requestTooLarge = "REQUEST_TOO_LARGE"
        case messageCount = "MESSAGE_COUNT"
        case unimplemented = "UNIMPLEMENTED"
        case internalFailure = "INTERNAL_FAILURE"

        /// The status's code.
        var code: RPCError.Code {
            switch self {
            case .requestMalformed, .messageCount: .invalidArgument
            case .requestTooLarge: .resourceExhausted
            case .unimplemented: .unimplemented
            case .internalFailure: .internalError
            }
        }
    }

    /// The maximum bytes of a client's text in a message.
    static let shownBytes = 64

    let reason: Reason
    /// What of the request is wrong; nil if nothing in it is.
    let field: String?
    let message: String

    /// What is wrong with a part of the request, and how it has to be.
    static func malformed(_ field: String, _ words: String) -> ConnectRefusal {
        ConnectRefusal(reason: .requestMalformed, field: field, message: "\(field): \(words)")
    }

    /// A part of the request is larger than it may be.
    static func tooLarge(
        _ field: String, limit: Int, of unit: String = "bytes", fix: String
    ) -> ConnectRefusal {
        ConnectRefusal(
            reason: .requestTooLarge, field: field,
            message: "\(field): more than \(limit) \(unit), the limit of this port: \(fix)")
    }

    /// A call has not exactly one message.
    static func messageCount(_ words: String) -> ConnectRefusal {
        ConnectRefusal(reason: .messageCount, field: nil, message: words)
    }

    /// The method, its kind or the request's compression is not served here.
    static func unimplemented(_ words: String) -> ConnectRefusal {
        ConnectRefusal(reason: .unimplemented, field: nil, message: words)
    }

    /// A bug of the server.
    static let internalFailure = ConnectRefusal(
        reason: .internalFailure, field: nil,
        message: "the server cannot write its own answer: this is a bug of the server")

    /// Why a body cannot be had.
    ///
    /// - Parameter field: the body's name in messages.
    init(_ error: DoorBodyError, field: String) {
        switch error {
        case .unknownEncoding(let name):
            self = .unimplemented(
                "compression \"\(Self.shown(name))\" is unknown: use one of "
                    + "\(DoorBody.encodings), or identity for none")
        case .damaged(let encoding):
            self = .malformed(
                field, "its \(encoding) is damaged, or other bytes follow: compress it again")
        case .tooLarge(let limit):
            self = .tooLarge(field, limit: limit, fix: "send fewer events per request")
        }
    }

    private init(reason: Reason, field: String?, message: String) {
        self.reason = reason
        self.field = field
        self.message = message
    }

    /// A client's text for a message: printable and shortened.
    static func shown(_ text: some StringProtocol) -> String {
        let part = String(decoding: text.utf8.prefix(Self.shownBytes), as: UTF8.self).printable
        return text.utf8.count > Self.shownBytes ? part + "…" : part
    }

    /// The refusal as a service would answer it.
    var answer: DoorAnswer {
        var details: [ErrorDetails] = [
            .errorInfo(reason: self.reason.rawValue, domain: "sightline.v1")
        ]
        if let field = self.field {
            details.append(
                .badRequest(violations: [.init(field: field, description: self.message)]))
        }
        let status = GoogleRPCStatus(
            code: self.reason.code, message: self.message, details: details)
        return DoorAnswer(
            message: nil, status: Status(code: Status.Code(status.code), message: status.message),
            metadata: status.rpcErrorMetadata)
    }
}
