// Each code of gRPC, as Connect names it and as HTTP's status says it.
internal import GRPCCore
@testable internal import HTTPDoor
internal import HTTPTypes
internal import Testing

struct ConnectCodeTests {
    @Test(
        "each code has its name and its status",
        arguments: [
            (1, "canceled", 499), (2, "unknown", 500), (3, "invalid_argument", 400),
            (4, "deadline_exceeded", 504), (5, "not_found", 404), (6, "already_exists", 409),
            (7, "permission_denied", 403), (8, "resource_exhausted", 429),
            (9, "failed_precondition", 400), (10, "aborted", 409), (11, "out_of_range", 400),
            (12, "unimplemented", 501), (13, "internal", 500), (14, "unavailable", 503),
            (15, "data_loss", 500), (16, "unauthenticated", 401),
        ])
    func codes(_ number: Int, _ name: String, _ status: Int) throws {
        let code = ConnectCode.of(try #require(Status.Code(rawValue: number)))
        #expect(code == ConnectCode(name: name, httpStatus: status))
        #expect(code.status.code == status)
    }
}
