internal import Credentials
internal import GRPCCore
internal import GRPCProtobuf
internal import Operations
internal import SightlineProtos
internal import SinkKit
internal import SwiftProtobuf
internal import TrackingRules

/// Implements sightline.v1.ErasureService: forgets recipients of the caller's tenant, each of which
/// is charged to the quota as one event.
struct ErasureService: Sightline_V1_ErasureService.SimpleServiceProtocol {
    let ingest: Ingest
    let subjects: any SubjectForgetting

    func forgetSubject(
        request: Sightline_V1_ForgetSubjectRequest, context: ServerContext
    ) async throws -> Sightline_V1_ForgetSubjectResponse {
        let caller = context.principal
        guard caller.has(.erase) else { throw ServiceError.scopeMissing(.erase).status }
        try self.ingest.allowance(of: caller.tenant)
            .take(events: 1, bytes: request.subjectID.utf8.count)
        do {
            let receipt = try await self.subjects.forget(
                request.subjectID, of: caller.tenant.name)
            return .with { $0.places = receipt.places.map(Sightline_V1_ErasurePlace.init) }
        } catch ErasureError.id(let byteCount, let limit) {
            let error = ErasureError.id(byteCount: byteCount, limit: limit)
            throw ServiceError.request(
                Violation("subject_id", byteCount == 0 ? .required : .tooLarge, "\(error)")
            ).status
        } catch {
            throw ServiceError.erasureFailed("\(error)").status
        }
    }
}

extension Sightline_V1_ErasurePlace {
    fileprivate init(_ place: ErasureReceipt.Place) {
        self.init()
        self.name = place.name
        self.outcome =
            switch place.erasure.outcome {
            case .erased: .erased
            case .told: .told
            case .impossible: .impossible
            case .failed: .failed
            }
        self.erasedCount = UInt64(place.erasure.count)
        self.reason = place.erasure.reason
    }
}
