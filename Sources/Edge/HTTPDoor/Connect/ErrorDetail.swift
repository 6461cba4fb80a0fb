internal import Foundation
internal import GRPCProtobuf

/// What stands in a detail, in protobuf's JSON, for those who read an error by hand.
enum ErrorDetail: Encodable, Equatable {
    case errorInfo(reason: String, domain: String)
    case retryInfo(milliseconds: Int64)
    case badRequest([Violation])
    case quotaFailure([Violation])

    /// What is wrong with a field, or which quota is used up.
    struct Violation: Equatable {
        let subject: String
        let description: String
    }

    /// A detail of the kinds of docs/errors.md; nil for others.
    init?(_ detail: ErrorDetails) {
        if let info = detail.errorInfo {
            self = .errorInfo(reason: info.reason, domain: info.domain)
        } else if let info = detail.retryInfo {
            let (seconds, attoseconds) = info.delay.components
            let (whole, isTooLong) = seconds.multipliedReportingOverflow(by: 1000)
            guard !isTooLong else { return nil }
            self = .retryInfo(milliseconds: whole &+ attoseconds / 1_000_000_000_000_000)
        } else if let request = detail.badRequest {
            self = .badRequest(
                request.violations.map {
                    Violation(subject: $0.field, description: $0.violationDescription)
                })
        } else if let failure = detail.quotaFailure {
            self = .quotaFailure(
                failure.violations.map {
                    Violation(subject: $0.subject, description: $0.violationDescription)
                })
        } else {
            return nil
        }
    }

    private enum Key: String, CodingKey {
        case reason, domain, retryDelay, fieldViolations, violations, field, subject, description
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        switch self {
        case .errorInfo(let reason, let domain):
            try container.encode(reason, forKey: .reason)
            try container.encode(domain, forKey: .domain)
        case .retryInfo(let milliseconds):
            let fraction = String(1000 &+ abs(milliseconds % 1000)).dropFirst()
            try container.encode("\(milliseconds / 1000).\(fraction)s", forKey: .retryDelay)
        case .badRequest(let violations):
            try Self.encode(violations, as: .field, in: &container, .fieldViolations)
        case .quotaFailure(let violations):
            try Self.encode(violations, as: .subject, in: &container, .violations)
        }
    }

    private static func encode(
        _ violations: [Violation], as subject: Key,
        in container: inout KeyedEncodingContainer<Key>, _ key: Key
    ) throws {
        var list = container.nestedUnkeyedContainer(forKey: key)
        for violation in violations {
            var item = list.nestedContainer(keyedBy: Key.self)
            try item.encode(violation.subject, forKey: subject)
            try item.encode(violation.description, forKey: .description)
        }
    }
}
