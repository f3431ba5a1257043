import { expect, it } from 'vitest';
import { describeInBrowser, eventually, failure } from './browser.ts';

describeInBrowser('a sheet over the page', ({ inspect }) => {
  it('tells what fails while it is open, each time, and what lies behind it does not', async () => {
    await using demo = await inspect();
    await using opened = await demo.open({ at: '#/memories/label' });
    const { page, complaints } = opened;
    const said = page.getByRole('dialog', { name: 'Forget this memory' }).locator('> div > [role="alert"]');
    const forget = page.getByRole('button', { name: 'Forget for good' });
    const behind = page.locator('.toast.failed');
    let answer = failure('The disk is full');
    await page.route('**/v1/forget', (route) =>
      route.request().postDataJSON().dryRun ? route.continue() : route.fulfill(answer),
    );

    await page.getByRole('button', { name: 'Forget…' }).click();
    await forget.click();
    await said.getByText('The disk is full').waitFor();
    const first = await said.elementHandle();
    await forget.click();
    await eventually(() => first?.evaluate((each) => each.isConnected)).toBe(false);
    await said.getByText('The disk is full').waitFor();
    answer = failure('The disk is gone');
    await forget.click();
    await said.getByText('The disk is gone').waitFor();
    expect(await said.count()).toBe(1);
    expect(await behind.count()).toBe(0);

    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Forget…' }).click();
    await forget.waitFor();
    expect(await said.count()).toBe(0);

    // Whoever has closed it is told where the messages are.
    await forget.click();
    await said.waitFor();
    await page.unroute('**/v1/forget');
    await page.route('**/v1/forget', async (route) => {
      await page.keyboard.press('Escape');
      await route.fulfill(failure('The disk is back, and full'));
    });
    await forget.click();
    await behind.getByText('The disk is back, and full').waitFor();
    expect(await page.getByRole('dialog').count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  it('says that the filter finds more, and leads back to the field', async () => {
    await using demo = await inspect();
    const { total = 0 } = await demo.memory.list({ tags: ['taste'] });
    await using opened = await demo.open({ at: '#/memories?tags=taste' });
    const { page, complaints } = opened;
    await page.getByRole('button', { name: 'Forget these…' }).click();
    const sheet = page.getByRole('dialog');
    await sheet.getByRole('textbox').fill(String(total));
    await demo.memory.remember('Tastes of rain', { tags: ['taste'] });
    await sheet.getByRole('button', { name: `Forget ${total}` }).focus();
    await page.keyboard.press('Enter');
    await sheet
      .getByRole('alert')
      .getByText(`The filter finds ${total + 1} now.`)
      .waitFor();
    await page.keyboard.type(String(total + 1));
    await page.keyboard.press('Enter');
    expect(await sheet.getByRole('textbox').inputValue()).toBe(String(total + 1));
    expect(complaints).toEqual([]);
  });

  it('keeps the focus when what it shows cannot be asked for, and can again', async () => {
    await using demo = await inspect();
    await using opened = await demo.open({ at: '#/memories/label' });
    const { page } = opened;
    await page.getByRole('button', { name: 'Forget…' }).click();
    await page.getByRole('button', { name: 'Forget for good' }).waitFor();
    await page.route('**/v1/forget', (route) => route.fulfill(failure('The disk is full')));
    await page.getByRole('button', { name: 'Forget for good' }).focus();
    await page.keyboard.press('Enter');
    const again = page.getByRole('dialog').getByRole('button', { name: 'Try again' });
    const focused = () => page.evaluate(() => document.activeElement?.textContent);
    await again.waitFor();
    await eventually(focused).toBe('Try again');
    // What is planned cannot be asked for, for the same reason: told once.
    expect(await page.getByRole('dialog').getByText('The disk is full').count()).toBe(1);
    await page.unroute('**/v1/forget');
    await page.keyboard.press('Enter');
    // Not the button that erases.
    await eventually(focused).toBe('Keep');
    expect(await page.getByText('The disk is full').count()).toBe(0);
  });
});
