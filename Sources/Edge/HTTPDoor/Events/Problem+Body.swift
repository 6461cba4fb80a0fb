// What is wrong with a body as a whole.
internal import HTTPTypes
internal import JSON
internal import NIOCore
internal import WireFormat

extension Problem {
    /// The media types that a body may have, as a client is told them.
    static let mediaTypes = "application/json, application/x-ndjson, application/x-protobuf"

    /// A body that is no JSON behind its first `start` bytes, or nests too deep.
    init(_ fault: JSONFault, in body: Bytes, from start: Int) {
        self.init(
            .badRequest, "REQUEST_MALFORMED",
            "the body cannot be split into events: \(fault.reason); nothing of it was recorded")
        guard let offset = fault.offset else { return }
        let line = body.prefix(start + offset).count { $0 == UInt8(ascii: "\n") } + 1
        self.place = Place(offset: start + offset, line: line)
        self.detail =
            "the body is no JSON from line \(line) on: \(fault.reason); nothing of it was recorded"
    }

    /// A body that breaks a rule as a whole.
    static func malformed(_ rule: String) -> Problem {
        Problem(.badRequest, "REQUEST_MALFORMED", rule)
    }

    /// A body with too much in it.
    static func tooLarge(_ what: String, limit: Int, key: String) -> Problem {
        var problem = Problem(
            .contentTooLarge, "REQUEST_TOO_LARGE",
            "the body has more than \(limit) \(what) (\(key)): send fewer events per request")
        problem.violations = [Violation(field: "events", description: problem.detail)]
        return problem
    }

    /// A media type that is not taken.
    static func mediaType(_ seen: String) -> Problem {
        var problem = Problem(
            .unsupportedMediaType, "MEDIA_TYPE_UNSUPPORTED",
            "content-type \"\(seen.cut(toScalars: 64).printable)\" is not taken here: send "
                + "\(Self.mediaTypes), or none")
        problem.headers[.accept] = Self.mediaTypes
        return problem
    }

    /// A body that cannot be decompressed.
    init(_ error: DoorBodyError) {
        switch error {
        case .unknownEncoding(let name):
            self.init(
                .unsupportedMediaType, "MEDIA_TYPE_UNSUPPORTED",
                "content-encoding \"\(name.cut(toScalars: 64).printable)\" is not taken here: "
                    + "send \(DoorBody.encodings), or the body as it is")
            self.headers[.acceptEncoding] = DoorBody.encodings
        case .damaged(let encoding):
            self = .malformed(
                "the body is truncated or damaged, or has other bytes behind it: send it whole, in "
                    + encoding)
        case .tooLarge(let limit):
            self = .tooLarge("bytes", limit: limit, key: "once decompressed")
        }
    }
}
