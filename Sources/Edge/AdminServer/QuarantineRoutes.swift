internal import HTTPTypes
internal import Hummingbird
internal import HummingbirdCore
internal import Operations
internal import TrackingRules

/// `POST /quarantine/recover` on the admin socket: judges kept events again.
struct QuarantineRoutes: Sendable {
    let recovery: any EventRecovery

    func add(to router: Router<BasicRequestContext>) {
        router.post("/quarantine/recover") { request, _ in
            let query = request.uri.queryParameters
            do {
                var filter = QuarantineFilter()
                for (name, value) in query where name != "set_app" {
                    try filter.add(String(name), String(value))
                }
                return try AdminAnswer.json(
                    .ok,
                    try await self.recovery.recover(
                        filter, app: try query["set_app"].map(Self.app)))
            } catch let error as QuarantineFilterError {
                return AdminAnswer.text(.badRequest, "\(error)\n")
            } catch let error as RecoveryError {
                return AdminAnswer.text(.conflict, "\(error)\n")
            } catch {
                return AdminAnswer.text(.serviceUnavailable, "\(error)\n")
            }
        }
    }

    private static func app(_ name: Substring) throws(QuarantineFilterError) -> String {
        guard (1...Limits.nameBytes).contains(name.utf8.count) else {
            throw QuarantineFilterError(
                description: "set_app has \(name.utf8.count) bytes: an app has 1 to "
                    + "\(Limits.nameBytes)")
        }
        return String(name)
    }
}
