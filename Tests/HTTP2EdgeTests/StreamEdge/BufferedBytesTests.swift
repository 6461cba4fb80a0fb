internal import HTTP2Edge
internal import Testing

struct BufferedBytesTests {
    @Test("what is added to a call that has ended counts for nothing, also after its tenant's")
    func closed() {
        let buffered = BufferedBytes(maxBytes: 1 << 20)
        let bytes = 100_000
        for isAssigned in [false, true] {
            let call = buffered.open(on: ConnectionShares())
            #expect(call.add(bytes))
            if isAssigned { call.assign(to: "a".utf8) }
            #expect(buffered.count == bytes - BufferedCall.freeBytes)
            call.close()
            #expect(buffered.count == 0)
            #expect(!call.add(bytes))
            call.take(bytes)
            call.close()
            #expect(buffered.count == 0)
        }
    }
}
