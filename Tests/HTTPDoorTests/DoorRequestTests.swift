import HTTPDoor
import Testing

@Suite struct DoorRequestTests {
    @Test func aRequestHasNoBodyUnlessItIsGiven() {
        #expect(DoorRequest(method: .get, path: "/v1/").body.readableBytes == 0)
    }
}
