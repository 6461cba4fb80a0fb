internal import HTTPTypes
internal import Hummingbird
internal import HummingbirdCore
internal import Operations

/// `POST /privacy/forget` on the admin socket: forgets a tenant's subject.
struct PrivacyRoutes: Sendable {
    let subjects: any SubjectForgetting

    func add(to router: Router<BasicRequestContext>) {
        router.post("/privacy/forget") { request, _ in
            let query = request.uri.queryParameters
            do {
                return try AdminAnswer.json(
                    .ok,
                    try await self.subjects.forget(
                        String(query["subject"] ?? ""), of: String(query["tenant"] ?? "")))
            } catch let error as ErasureError where error.isOfRequest {
                return AdminAnswer.text(.badRequest, "\(error)\n")
            } catch let error as ErasureError {
                return AdminAnswer.text(.conflict, "\(error)\n")
            } catch {
                return AdminAnswer.text(.serviceUnavailable, "\(error)\n")
            }
        }
    }
}
