"""What the sentences of chapter 04 state and no cell of it shows. Runs after its last cell, in the same kernel."""
def _claims():
    u, v = Value(2.0), Value(3.0)                       # ledger A: row 4 should say 16 · 3
    p = u * v
    q = p + u
    (q**2).backward()
    assert (p.data, q.data, q.grad, p.grad, v.grad, u.grad) == (6, 8, 16, 16, 32, 16 + 48) and 16 * 2 == 32 and 16 + 32 == 48

    x = Value(2.0)                                      # ledger B: row 5 should say 3 + 12
    a = x**2
    b = 4 * a
    c = a + b
    (3 * c).backward()
    assert (a.data, b.data, c.data, c.grad, b.grad, a.grad, x.grad) == (4, 16, 20, 3, 3, 15, 60) and 3 * 4 == 12 and 12 * 4 == 48

    w, x, t = Value(2.0), Value(3.0), Value(10.0)       # ledger C: row 3 should say −8 · 3
    p = w * x
    d = p - t
    (d**2).backward()
    assert (p.data, d.data, d.grad, p.grad, w.grad, x.grad, t.grad) == (6, -4, -8, -8, -24, -16, 8)

    inputs = [Value(n) for n in (3.0, 2.0, -1.0, 4.0, 1.0)]
    neuron(*inputs).backward()
    assert [n.grad for n in inputs] == [18, 18, 24, -6, 6]

_claims()
