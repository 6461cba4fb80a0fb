internal import JSON
internal import PayloadInspector
internal import SightlineProtos
internal import SwiftProtobuf
internal import TrackingRules

extension PayloadInspector {
    /// Inspects a payload's JSON for problems that would prevent its tracking.
    ///
    /// - Throws: the status of malformed JSON, or of an unspecified platform.
    func inspect(
        _ request: Sightline_V1_InspectPayloadRequest
    ) throws -> Sightline_V1_InspectPayloadResponse {
        guard let platform = Platform(number: Int32(truncatingIfNeeded: request.platform.rawValue))
        else {
            throw ServiceError.request(
                Violation(
                    "platform", .required,
                    "missing: PLATFORM_ANDROID or PLATFORM_IOS says "
                        + "whose rules hold")
            ).status
        }
        let json = Array(request.json.utf8)
        guard json.count <= JSONValue.maximumByteCount else {
            throw ServiceError.request(
                Violation(
                    "json", .tooLarge,
                    "\(json.count) bytes, the limit is "
                        + "\(JSONValue.maximumByteCount): a push payload has 4096 at most")
            ).status
        }
        let payload: PayloadDocument
        do {
            payload = try PayloadDocument(json)
        } catch {
            throw ServiceError.request(
                Violation(
                    "json", .malformed,
                    "not JSON (\(error.reason)): send the payload as a device or a push tester "
                        + "shows it")
            ).status
        }
        let inspection = self.inspect(payload, platform: platform)
        return .with { response in
            response.tracked = inspection.tracked
            response.findings = inspection.findings.map(Sightline_V1_PayloadFinding.init)
        }
    }
}

extension Sightline_V1_PayloadFinding {
    fileprivate init(_ finding: PayloadFinding) {
        self = .with { proto in
            switch finding.severity {
            case .error: proto.severity = .error
            case .warning: proto.severity = .warning
            case .note: proto.severity = .note
            }
            proto.key = finding.key
            proto.description_p = finding.description
        }
    }
}
