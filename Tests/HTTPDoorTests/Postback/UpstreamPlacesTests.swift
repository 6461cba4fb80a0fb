@testable internal import HTTPDoor
internal import Testing

struct UpstreamPlacesTests {
    /// Whether each request of a host's addresses gets its place.
    private static func take(
        _ places: inout UpstreamPlaces, host: UInt8, addresses: [UInt8]
    ) -> [Bool] {
        addresses.map { places.take(host: [host], address: [$0]) }
    }

    @Test("a host whose many addresses have all places leaves another host its half")
    func hosts() {
        var places = UpstreamPlaces(4)
        let first = Self.take(&places, host: 1, addresses: [1, 2, 3, 4, 5])
        #expect(first == [true, true, true, true, false])
        let second = Self.take(&places, host: 2, addresses: [1, 2, 3])
        #expect(second == [true, true, false])
    }

    @Test("an address with all places of its host leaves another its half, whatever others have")
    func addresses() {
        var places = UpstreamPlaces(4)
        let first = Self.take(&places, host: 1, addresses: [1, 1, 1, 1, 1, 2, 2, 2])
        #expect(first == [true, true, true, true, false, true, true, false])
        // Of two hosts one may have two places, and of that each of two addresses one.
        let second = Self.take(&places, host: 2, addresses: [1, 1, 1, 2, 2])
        #expect(second == [true, true, false, true, false])
    }

    @Test("places that were given back are free, and giving back twice is as good as once")
    func giveBack() {
        var places = UpstreamPlaces(1)
        let taken = Self.take(&places, host: 1, addresses: [1, 1])
        #expect(taken == [true, false])
        for _ in 0..<2 { places.giveBack(host: [1], address: [1]) }
        let again = Self.take(&places, host: 1, addresses: [1, 1])
        #expect(again == [true, false])
    }
}
