package import HTTPTypes
internal import JSON
internal import NIOCore
internal import WireFormat

/// Why a whole request was refused, as `application/problem+json` (RFC 9457). What is wrong with
/// one event is a verdict instead.
package struct Problem: Error, Sendable, Equatable {
    /// A field of the request that breaks a rule.
    package struct Violation: Sendable, Equatable {
        /// The field's path.
        package let field: String
        /// The rule, and what is there.
        package let description: String

        /// Creates a violation.
        package init(field: String, description: String) {
            self.field = field
            self.description = description
        }
    }

    /// Where a body is no JSON.
    struct Place: Sendable, Equatable {
        /// The first byte that is none, from 0.
        let offset: Int
        /// Its line, from 1.
        let line: Int
    }

    /// The media type.
    package static let mediaType = "application/problem+json"

    /// The status of the answer.
    package var status: HTTPResponse.Status
    /// The reason, a constant of docs/errors.md.
    package var reason: String
    /// What is wrong, the value seen, and the fix, for people.
    package var detail: String
    /// The fields that are wrong, if it is fields.
    package var violations: [Violation] = []
    /// How long to wait before the same request is sent again; nil if that would not help, or if
    /// there is no need to wait.
    package var retryDelay: Duration?
    /// Header fields besides those of the body.
    package var headers: HTTPFields = [:]
    /// Where the body is no JSON; nil for other problems.
    var place: Place?

    /// Creates a problem.
    package init(_ status: HTTPResponse.Status, _ reason: String, _ detail: String) {
        self.status = status
        self.reason = reason
        self.detail = detail
    }

    /// Where the reason is explained.
    package var type: String { Documentation.page("errors.md") + "#\(self.reason.lowercased())" }

    /// The reason in words: `REQUEST_TOO_LARGE` is "Request too large".
    package var title: String {
        let words = self.reason.lowercased().split(separator: "_").joined(separator: " ")
        return words.prefix(1).uppercased() + words.dropFirst()
    }

    /// The header fields, also of an answer in another form: how long to wait, and those of its
    /// own.
    var fields: HTTPFields {
        var fields = self.headers
        if let retryDelay { fields[.retryAfter] = "\(retryDelay.secondsToWait)" }
        return fields
    }

    /// The answer.
    package func response() -> DoorResponse {
        var members: JSONObject = [
            "type": .string(self.type), "title": .string(self.title),
            "status": .integer(Int64(self.status.code)), "detail": .string(self.detail),
            "reason": .string(self.reason),
        ]
        if !self.violations.isEmpty {
            members["violations"] = .array(
                self.violations.map {
                    .object([
                        "field": .string($0.field), "description": .string($0.description),
                    ])
                })
        }
        if let place {
            members["offset"] = .integer(Int64(place.offset))
            members["line"] = .integer(Int64(place.line))
        }
        var headers = self.fields
        headers[.contentType] = Self.mediaType
        headers[.cacheControl] = "no-store"
        return DoorResponse(
            status: self.status, headers: headers,
            body: ByteBuffer(string: JSONValue.object(members).text + "\n"))
    }
}

extension Duration {
    /// Whole seconds for `Retry-After`: rounded up, and at least one, as 0 would mean at once.
    var secondsToWait: Int64 {
        let (seconds, rest) = self.components
        return max(1, rest > 0 ? seconds &+ 1 : seconds)
    }
}
