def chain(n):
    x = n | 1
    for _ in range(n):
        x = x * 6364136223846793005 & 0xFFFFFFFFFFFFFFFF
    return x
