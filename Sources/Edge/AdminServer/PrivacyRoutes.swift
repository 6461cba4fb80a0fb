internal import Credentials
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
            // Of a name that no tenant can have nobody is forgotten, and a receipt would say so.
            guard let tenant = Tenant(String(query["tenant"] ?? "")) else {
                return AdminAnswer.text(.badRequest, "a tenant's name has \(Tenant.rule)\n")
            }
            do {
                return try AdminAnswer.json(
                    .ok,
                    try await self.subjects.forget(
                        String(query["subject"] ?? ""), of: tenant.name))
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
