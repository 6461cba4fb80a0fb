// DeliveryView against EventView: on any event that the latter takes, both see one delivery.
internal import TestSupport
internal import Testing
@testable internal import TrackingRules

struct DeliveryViewTests {
    @Test(
        "any event: the short way to its delivery's ids and platform leads where the long one does")
    func events() {
        print("DeliveryViewTests: SIGHTLINE_TEST_SEED=\(Dice.runSeed)")
        var generator = EventGenerator(seed: Dice.runSeed)
        var (compared, withDelivery, withBroadlog, onIOS) = (0, 0, 0, 0)
        for index in 0..<20_000 {
            let bytes = generator.event()
            bytes.withUnsafeBytes { bytes in
                guard let event = try? EventView(bytes) else { return }
                let delivery = try? DeliveryView(bytes)
                compared += 1
                withDelivery += event.deliveryID.isEmpty ? 0 : 1
                withBroadlog += event.broadlogID.isEmpty ? 0 : 1
                onIOS += event.effectivePlatform == .ios ? 1 : 0
                let isSame =
                    delivery?.deliveryID.elementsEqual(event.deliveryID) == true
                    && delivery?.broadlogID.elementsEqual(event.broadlogID) == true
                    && delivery?.isIOS == (event.effectivePlatform == .ios)
                #expect(isSame, "seed \(Dice.runSeed), message \(index): \(Array(bytes))")
            }
        }
        // A generator that makes one sort alone would prove nothing.
        #expect(compared > 4000 && withDelivery > 400 && withBroadlog > 400 && onIOS > 400)
    }
}
